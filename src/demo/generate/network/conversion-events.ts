import { moneyText } from '../../../kit/text/decimal-text.ts';
import type { GeneratedConversion } from './canonical-records.ts';
import { Random, scramble, seedFor } from './random.ts';
import { generatedClickId, type Traffic, type SiteVisit } from './traffic.ts';

export interface TimedConversion {
  /** Epoch milliseconds of `occurred_at`. */
  at: number;
  conversion: GeneratedConversion;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Number of visits of which one leads to a conversion that names a click no log will ever bring. */
const visitsPerOrphan = 4000;

/**
 * Conversions that visits lead to, none later than the end of the traffic: credits, milestones, refusals, money taken
 * back.
 */
export function conversionSource(traffic: Traffic): (visit: SiteVisit) => TimedConversion[] {
  const random = new Random(0);
  const seed = seedFor(traffic.seed, 'conversion');

  return (visit) => {
    const events: TimedConversion[] = [];
    const occur = (at: number, conversion: Omit<GeneratedConversion, 'occurred_at'>) => {
      if (at <= traffic.end)
        events.push({ at, conversion: { ...conversion, occurred_at: new Date(at).toISOString() } });
    };
    random.restart(scramble(seed + visit.index));
    if (visit.index % visitsPerOrphan === Math.min(visitsPerOrphan, traffic.clicks) >> 1) {
      // Ids of indexes past the last click are made like the others and never used by one.
      const lost = generatedClickId(traffic.seed, traffic.clicks + visit.index);
      occur(visit.at + 1, { conversion_id: `cv-${lost}`, click_id: lost, kind: 'credit', payout: '0.75' });
    }
    if (!visit.converts) return events;

    const { click_id } = visit.click;
    const { events: milestones } = visit.offer.record;
    let at = visit.at;
    for (const milestone of milestones ?? [undefined]) {
      at += logUniform(random, minuteMs, milestone ? dayMs : 2 * dayMs);
      const about = {
        conversion_id: milestone ? `cv-${click_id}-${milestone.event_id}` : `cv-${click_id}`,
        click_id,
        ...(milestone && { event_id: milestone.event_id }),
      };
      // Most conversions leave their worth to the catalog; some networks say it.
      const stated = random.chance(0.15) ? { payout: moneyText(BigInt(random.between(50, 9009)) * 1000n) } : {};
      const fate = random.next();
      if (fate < 0.03) {
        occur(at, { ...about, kind: 'reject', reason: random.pick(['duplicate user', 'not a new customer']) });
        break;
      }
      occur(at, { ...about, kind: 'credit', ...stated });
      if (fate < 0.06)
        occur(at + logUniform(random, 10 * minuteMs, dayMs), { ...about, kind: 'reject', reason: 'failed validation' });
      else if (fate < 0.1)
        occur(at + logUniform(random, hourMs, 2 * dayMs), {
          ...about,
          kind: 'chargeback',
          reason: random.pick(['fraud', 'refund']),
        });
      if (random.chance(0.5)) break;
    }
    return events;
  };
}

/** Delays have no typical size: as many take minutes as take hours. */
function logUniform(random: Random, shortest: number, longest: number): number {
  return Math.round(shortest * (longest / shortest) ** random.next());
}
