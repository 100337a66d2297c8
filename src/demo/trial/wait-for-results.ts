import { OfferlineError } from '../../kit/errors/errors.ts';
import { hasStore, openStore } from '../../postbacks/open-store.ts';
import type { DeliveryState } from '../../postbacks/store/delivery-rows.ts';
import { publishedConversion, type PublishedConversion } from './published-trial.ts';
import { trackedRow } from './tracked-rows.ts';
import { triedPostback, type TriedPostback } from './trial-report.ts';
import { until, type OfferTrial } from './offer-trial.ts';
import type { TrialSubject } from './trial-subject.ts';

/** Logs are handed over within a minute, and the watch sees it at once. Milliseconds. */
const maxHandOver = 90_000;
const maxWatched = 60_000;
const maxDelivery = 30_000;

/** Waits until the click and its conversion are where a refresh finds them. */
export async function handedOver(trial: OfferTrial, clickId: string, conversionId: string): Promise<string> {
  const { data, tracker, now } = trial;
  const since = now() - maxHandOver;
  const members = { conversion_id: conversionId, kind: 'credit' };
  const isThere = () =>
    trackedRow(data, 'clicks', { click_id: clickId }, since)?.isHandedOver === true &&
    trackedRow(data, 'conversions', members, since)?.isHandedOver === true;
  await until(trial, maxHandOver, `the tracker at ${tracker.address} did not hand its logs over`, () =>
    isThere() ? true : undefined,
  );
  return `the logs are in ${data.landing}`;
}

/** Waits for the conversion in a snapshot: of the schedule that watches, else of a refresh of our own. */
export async function published(trial: OfferTrial, conversionId: string): Promise<PublishedConversion> {
  const { data, schedule } = trial;
  const find = async () => {
    const found = await publishedConversion(data, conversionId);
    // Unattributed: a refresh found it before its click, and the next one has both.
    return found?.status === 'unattributed' ? undefined : found;
  };
  const waited = schedule === 'watching' ? await until(trial, maxWatched, undefined, find) : undefined;
  if (waited !== undefined) return waited;
  await trial.refresh();
  const found = await find();
  if (found === undefined)
    throw new OfferlineError(
      `The refresh is done, and ${conversionId} is not in what it published, or without its click: \`offerline status\` shows what needs attention.`,
    );
  return found;
}

/** Null where none comes of it. */
export async function postbackOf(trial: OfferTrial, conversionId: string): Promise<TriedPostback | null> {
  const { data, settings, subject } = trial;
  if (subject.receiver === 'nobody' || !hasStore(data, settings)) return null;
  const look = async () => {
    const store = await openStore(data, settings);
    try {
      const found = await store.show(conversionId);
      return found.find(({ postback }) => postback.kind === 'credit')?.postback;
    } finally {
      await store.close();
    }
  };
  const tried = await until(trial, maxDelivery, undefined, async () => {
    const postback = await look();
    return postback !== undefined && isOver(postback, trial) ? postback : undefined;
  });
  const last = tried ?? (await look());
  return last === undefined ? null : triedPostback(last);
}

/** A demo's names are refused by a refresh of our own; the schedule, which can reach them, tries again in seconds. */
function isOver({ state, attempts }: DeliveryState, { subject, schedule }: OfferTrial): boolean {
  const isTried = attempts > 0 && (subject.receiver === 'publisher' || schedule === 'none');
  return isTried || state === 'delivered' || state === 'dead';
}

export function postbackText({ receiver, postbackHost, site }: TrialSubject, postback: TriedPostback | null): string {
  if (receiver === 'nobody') return `none: site ${site.site_key} has no postback address`;
  if (postback === null) return `none yet for ${postbackHost}`;
  const { reward, state, attempts, last_status, last_error } = postback;
  const last = attempts === 0 ? '' : `, attempt ${attempts}: ${last_error ?? String(last_status)}`;
  const hint =
    state === 'delivered' || receiver !== 'demo' ? '' : ' (names under .example answer while `start --demo` runs)';
  return `credit of ${reward} points to ${postbackHost}: ${state}${last}${hint}`;
}
