import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { click, conversion, LogLanding } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

const offers = [
  { external_id: 'one', id: 7, title: 'One', payout: '1.50' },
  { external_id: 'steps', id: 8, title: 'Steps', events: [{ event_id: 'a', description: 'A', payout: '0.50' }] },
];

/** Ingests what is there; gives the warnings of the log by their message. */
async function warned(landing: LogLanding): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  await landing.ingest({ logger: createLogger({ write: (line) => lines.push(line) }) });
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ level }) => level === 'warn');
}

describe('a credit in a log', () => {
  it('that is more than an hour older than its click is warned of, whichever came first', slow, async () => {
    await using landing = await LogLanding.create();
    await landing.put('offers/net/first.ndjson', offers);
    const at = (time: string) => ({ occurred_at: `2026-11-18T${time}Z` });
    await landing.put('clicks/1.ndjson', [click('c1')]);
    await landing.put('conversions/1.ndjson', [
      conversion('old', at('08:59:59')),
      conversion('near', at('09:00:00')),
      conversion('later', at('10:00:01')),
      conversion('reversal', { kind: 'reject', ...at('01:00:00') }),
      conversion('waits', { click_id: 'c2', ...at('01:00:00') }),
    ]);
    expect(await warned(landing)).toMatchObject([
      {
        conversions: 1,
        first: ['old'],
        msg: expect.stringContaining('more than an hour older than their clicks') as string,
      },
    ]);
    await landing.put('clicks/2.ndjson', [click('c2')]);
    expect(await warned(landing)).toMatchObject([{ conversions: 1, first: ['waits'] }]);
    await landing.put('clicks/3.ndjson', [click('c3')]);
    await landing.put('conversions/3.ndjson', [conversion('old', { kind: 'chargeback' })]);
    expect(await warned(landing)).toEqual([]);
  });

  it('that names no milestone of an offer with some is warned of', async () => {
    await using landing = await LogLanding.create();
    await landing.put('offers/net/first.ndjson', offers);
    await landing.put('clicks/1.ndjson', [
      click('c1'),
      click('c8', { offer_id: undefined, source: 'net', external_id: 'steps' }),
    ]);
    await landing.put('conversions/1.ndjson', [
      conversion('plain'),
      conversion('whole', { click_id: 'c8' }),
      conversion('step', { click_id: 'c8', event_id: 'a' }),
    ]);
    expect(await warned(landing)).toMatchObject([
      { conversions: 1, first: ['whole'], msg: expect.stringContaining('name no milestone') as string },
    ]);
  });
});
