import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings } from '../src/kit/config/settings.ts';
import { momentOfMilliseconds } from '../src/kit/time/moment.ts';
import { checkOf, readFirstPages, type FirstPages, type SourceCheck } from '../src/sources/check-source.ts';
import { guardsOf, type PostbackSettings } from '../src/sources/config/postback-settings.ts';
import { readSources, type SourceEntry } from '../src/sources/config/sources-file.ts';
import type { PullClock } from '../src/sources/http/budget.ts';
import { resolveSource, type ResolvedSource } from '../src/sources/resolve-source.ts';
import { checkBucket, type BucketCheck } from '../src/sources/s3/check-bucket.ts';
import { TakenObjects } from '../src/sources/s3/taken-objects.ts';
import { SourceGuard } from '../src/tracker/conversions/guard/source-guard.ts';
import {
  askingOf,
  askSources,
  bucketAccess,
  fetchingOf,
  realPullClock,
  type AskingSources,
  type SourcesRequest,
} from './ask-sources.ts';
import { failureCure } from './failure-cure.ts';
import { samplePages, type SampledPages, type Sampling } from './samples/sample-pages.ts';

/** Result of checking a source. */
export interface CheckedSource extends Partial<SourceCheck>, Partial<BucketCheck> {
  source: string;
  /** Guards of the conversions that it reports, where their secrets can be read. */
  postback?: string;
  /** Records of its first pages beside what they become, where these are wanted. */
  sampled?: SampledPages;
  error: string | null;
  /** What to do about the error, where it does not say so itself. */
  cure?: string;
}

export interface CheckRequest extends SourcesRequest {
  /** Records of each list that are shown beside what they become; none where not given. */
  sample?: number | undefined;
}

/**
 * Asks each source for one page, and checks the secrets of sources that report conversions. Writes nothing. Throws
 * `UsageError` as `pullSources` does, and for a broken `offerline.json` where records are shown.
 */
export async function checkSources(request: CheckRequest, clock: PullClock = realPullClock): Promise<CheckedSource[]> {
  const { data, sample } = request;
  const sampling = sample === undefined ? undefined : { settings: readSettings(data), shown: sample };
  return askSources(
    request,
    clock,
    () => true,
    async (entry, asking) => {
      const otherSources = otherNames(data, entry.source);
      const { checked } = await checkEntry(entry, asking, data, sampling && { ...sampling, otherSources });
      return checked;
    },
    (sources) => sources.filter(({ connector, postback }) => connector !== undefined || postback !== undefined),
  );
}

/** Returns the names of the other sources of `sources.json`. Throws `UsageError` as `readSources` does. */
export function otherNames(data: DataDirectory, source: string): string[] {
  return readSources(data).sources.flatMap(({ source: name }) => (name === source ? [] : [name]));
}

/**
 * Checks one source, which need not be in `sources.json`. `checked` contains no secret; `pages` is what the network
 * sent.
 */
export async function checkEntry(
  entry: SourceEntry,
  asking: AskingSources,
  data: DataDirectory,
  sampling: Omit<Sampling, 'pulledAt'> | undefined,
): Promise<{ checked: CheckedSource; pages?: FirstPages }> {
  let redact = (text: string) => text;
  try {
    const reporting = entry.postback && { postback: checkPostback(entry.source, entry.postback, asking) };
    if (entry.connector === undefined) return { checked: { source: entry.source, ...reporting, error: null } };
    const source = resolveSource(entry) as ResolvedSource;
    redact = (text) => source.redactor.redact(text);
    if (entry.s3 !== undefined) {
      using taken = TakenObjects.existing(data);
      const bucket = await checkBucket(source.name, bucketAccess(source, entry.s3), taken, askingOf(source, asking));
      return { checked: { source: entry.source, ...bucket, ...reporting, error: null } };
    }
    const pages = await readFirstPages(source, fetchingOf(source, asking), sampling?.shown);
    const pulledAt = momentOfMilliseconds(asking.clock.now());
    const sampled = sampling && { sampled: samplePages(entry, source, pages, { ...sampling, pulledAt }) };
    const check = redactedCheck(checkOf(source, pages), redact);
    return { checked: { source: entry.source, ...check, ...sampled, ...reporting, error: null }, pages };
  } catch (error) {
    const cure = failureCure(error as Error, entry);
    return { checked: { source: entry.source, error: redact((error as Error).message), ...(cure && { cure }) } };
  }
}

/** A link of an offer may contain the key. */
function redactedCheck(check: SourceCheck, redact: (text: string) => string): SourceCheck {
  const { first, conversions } = check;
  return {
    ...check,
    first: first && redact(first),
    ...(conversions && { conversions: { ...conversions, first: conversions.first && redact(conversions.first) } }),
  };
}

/** Returns the guards of a source's reports. Throws `UsageError` where a secret cannot be read. */
function checkPostback(source: string, postback: PostbackSettings, { terminal }: AskingSources): string {
  for (const warning of new SourceGuard(source, postback).warnings) terminal.logger.warn(warning);
  return guardsOf(postback);
}
