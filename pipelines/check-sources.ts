import { checkSource, type SourceCheck } from '../src/sources/check-source.ts';
import { guardsOf, type PostbackSettings } from '../src/sources/config/postback-settings.ts';
import type { PullClock } from '../src/sources/http/budget.ts';
import { resolveSource, type ResolvedSource } from '../src/sources/resolve-source.ts';
import { checkBucket, type BucketCheck } from '../src/sources/s3/check-bucket.ts';
import { TakenObjects } from '../src/sources/s3/taken-objects.ts';
import { SourceGuard } from '../src/tracker/conversions/guard/source-guard.ts';
import { askingOf, askSources, bucketAccess, fetchingOf, realPullClock, type SourcesRequest } from './ask-sources.ts';

/** Result of checking a source. */
interface CheckedSource extends Partial<SourceCheck>, Partial<BucketCheck> {
  source: string;
  /** Guards of the conversions that it reports, where their secrets can be read. */
  postback?: string;
  error: string | null;
}

/**
 * Asks each source for one page, and checks the secrets of sources that report conversions. Writes nothing. Throws
 * `UsageError` as `pullSources` does.
 */
export async function checkSources(
  request: SourcesRequest,
  clock: PullClock = realPullClock,
): Promise<CheckedSource[]> {
  return askSources(
    request,
    clock,
    () => true,
    async (entry, asking): Promise<CheckedSource> => {
      let redact = (text: string) => text;
      try {
        const reporting = entry.postback && { postback: checkPostback(entry.source, entry.postback, request) };
        if (entry.connector === undefined) return { source: entry.source, ...reporting, error: null };
        const source = resolveSource(entry) as ResolvedSource;
        redact = (text) => source.redactor.redact(text);
        using taken = TakenObjects.existing(request.data);
        const shown = entry.s3
          ? await checkBucket(source.name, bucketAccess(source, entry.s3), taken, askingOf(source, asking))
          : await checkSource(source, fetchingOf(source, asking));
        return { source: entry.source, ...shown, ...reporting, error: null };
      } catch (error) {
        return { source: entry.source, error: redact((error as Error).message) };
      }
    },
    (sources) => sources.filter(({ connector, postback }) => connector !== undefined || postback !== undefined),
  );
}

/** Returns the guards of a source's reports. Throws `UsageError` where a secret cannot be read. */
function checkPostback(source: string, postback: PostbackSettings, { terminal }: SourcesRequest): string {
  for (const warning of new SourceGuard(source, postback).warnings) terminal.logger.warn(warning);
  return guardsOf(postback);
}
