import { momentOfMilliseconds } from '../../../kit/time/moment.ts';
import { durationText } from '../../../kit/time/age.ts';
import type { DeliveryStatus } from '../../../kit/vocabulary/values.ts';
import type { SilentSite } from '../../../postbacks/silent-sites.ts';
import { badge } from '../../html/badges.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import type { Column } from '../../html/table.ts';
import { numberValue } from '../../html/values.ts';
import type { DeliveryOverview } from '../../live/deliveries.ts';
import { compareTexts } from '../../../kit/text/compare-texts.ts';

/** A site's postbacks by state, and whether its receiver accepts them. */
export type PostbackSiteRow = {
  site_key: string;
  receiver: 'fails' | 'is paused' | 'has given up ones' | 'waits' | 'accepts';
  silent_seconds: number | null;
  paused_until: string | null;
} & Record<DeliveryStatus, number>;

const kinds = {
  fails: 'bad',
  'is paused': 'waiting',
  'has given up ones': 'bad',
  waits: 'waiting',
  accepts: 'good',
} as const;

/** In this order: what its publishers' users wait for first. */
const weights = ['fails', 'is paused', 'has given up ones', 'waits', 'accepts'] as const;

export const postbackSiteColumns: readonly Column<PostbackSiteRow>[] = [
  { name: 'site_key', title: 'Site', link: 'sites' },
  { name: 'receiver', title: 'Its receiver', show: receiverText },
  { name: 'dead', title: 'dead', kind: 'number', show: ({ site_key, dead }) => count(site_key, 'dead', dead) },
  {
    name: 'pending',
    title: 'pending',
    kind: 'number',
    show: ({ site_key, pending }) => count(site_key, 'pending', pending),
  },
  { name: 'delivering', title: 'delivering', kind: 'number' },
  { name: 'delivered', title: 'delivered', kind: 'number' },
  { name: 'paused_until', title: 'Paused until', kind: 'moment', whyNone: 'it is not paused' },
];

/**
 * Sites with their postbacks, those that fail first; of each kind the one with most undelivered ones first.
 *
 * @param silent Sites that have accepted none of the postbacks that wait, by the last health check.
 */
export function postbackSites(
  { states, paused }: Pick<DeliveryOverview, 'states' | 'paused'>,
  silent: readonly SilentSite[],
  now: number,
): PostbackSiteRow[] {
  const pauses = new Map(
    paused.filter(({ pausedUntil }) => pausedUntil > now).map(({ siteKey, pausedUntil }) => [siteKey, pausedUntil]),
  );
  const silences = new Map(silent.map(({ site_key, silent_seconds }) => [site_key, silent_seconds]));
  const rows = [...Map.groupBy(states, ({ siteKey }) => siteKey)].map(([site_key, ofSite]) => {
    const pausedUntil = pauses.get(site_key);
    const number = (state: DeliveryStatus) => ofSite.find((each) => each.state === state)?.postbacks ?? 0;
    const counts = {
      dead: number('dead'),
      pending: number('pending'),
      delivering: number('delivering'),
      delivered: number('delivered'),
    };
    const silent_seconds = silences.get(site_key) ?? null;
    const paused_until = pausedUntil === undefined ? null : momentOfMilliseconds(pausedUntil);
    const receiver =
      silent_seconds !== null
        ? 'fails'
        : paused_until !== null
          ? 'is paused'
          : counts.dead > 0
            ? 'has given up ones'
            : counts.pending + counts.delivering > 0
              ? 'waits'
              : 'accepts';
    return { site_key, receiver, silent_seconds, ...counts, paused_until } satisfies PostbackSiteRow;
  });
  return rows.toSorted(
    (one, other) =>
      weights.indexOf(one.receiver) - weights.indexOf(other.receiver) ||
      other.dead + other.pending - (one.dead + one.pending) ||
      compareTexts(one.site_key, other.site_key),
  );
}

function receiverText({ receiver, silent_seconds }: PostbackSiteRow): Html {
  const words = receiver === 'has given up ones' ? 'some given up' : receiver;
  const since = silent_seconds !== null && html` <span class="quiet">silent for ${durationText(silent_seconds)}</span>`;
  return html`${badge(words, kinds[receiver])}${since}`;
}

function count(site: string, state: DeliveryStatus, postbacks: number): Html {
  if (postbacks === 0) return numberValue(0);
  return html`<a href="/postbacks?site=${encodeURIComponent(site)}&state=${state}">${numberValue(postbacks)}</a>`;
}
