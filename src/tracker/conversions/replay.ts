import { request } from 'undici';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Day } from '../../kit/time/moment.ts';
import { maxReplayBytes, readRefused, type RefusedConversion } from './refused-conversions.ts';
import { readReplayKey, replayAuthorization } from './replay-key.ts';
import { refusalStatus, type RefusalReason } from './report/refusal.ts';

export interface ReplayRequest {
  data: DataDirectory;
  /** Address of the tracker, such as `http://127.0.0.1:8082`. */
  tracker: string;
  /** UTC; what was refused before is left alone. */
  sinceDay: Day;
  /** Only shows what would be submitted. */
  dryRun: boolean;
  /** Returns true for a source that still reports conversions by postback; the tracker answers 401 to others. */
  isReporting: (source: string) => boolean;
  /** Called with a sentence for each line that cannot be read. */
  warn: (message: string) => void;
}

/** Outcomes of the reports of one source that were refused for one reason. */
export interface ReplayedGroup {
  source: string;
  /** The reason of their refusal. */
  reason: string;
  reports: number;
  recorded: number;
  /** Recorded before, as by an earlier replay or when the sender tried again. */
  duplicate: number;
  /** Refused once more; none of them is kept a second time. */
  refused: number;
  /** Too long for the tracker; they stay where they are. */
  passed_over: number;
}

/**
 * Submits refused reports once more, those of a source in the order in which they came, to the tracker that runs: it
 * alone knows what was recorded, and judges by the configuration and catalog of now, but by the time at which a report
 * first came. Throws where the tracker does not answer or cannot record: what was submitted until then may be submitted
 * again.
 */
export async function replayRefused({
  data,
  tracker,
  sinceDay,
  dryRun,
  isReporting,
  warn,
}: ReplayRequest): Promise<ReplayedGroup[]> {
  const groups = new Map<string, ReplayedGroup>();
  const left = new Map<string, number>();
  const onBroken = (path: string, line: number) =>
    warn(`${path}, line ${line} is no refused conversion; passing over it`);
  for await (const refused of readRefused(data, sinceDay, onBroken)) {
    const { source, reason } = refused;
    if (!isReporting(source)) {
      left.set(source, (left.get(source) ?? 0) + 1);
      continue;
    }
    const name = JSON.stringify([source, reason]);
    const group = groups.get(name) ?? {
      source,
      reason,
      reports: 0,
      recorded: 0,
      duplicate: 0,
      refused: 0,
      passed_over: 0,
    };
    groups.set(name, group);
    group.reports++;
    if (dryRun) continue;
    const outcome = await submit(data, tracker, refused);
    if (typeof outcome === 'string') group[outcome]++;
    else {
      group.passed_over++;
      warn(
        `a report of ${source} of ${refused.received_at} cannot be replayed and stays where it is: ${outcome.mistake}`,
      );
    }
  }
  for (const [source, reports] of left)
    warn(`${reports} of ${source} are left where they are: in sources.json it reports by no postback any more`);
  return [...groups.values()];
}

async function submit(
  data: DataDirectory,
  tracker: string,
  refused: RefusedConversion,
): Promise<'recorded' | 'duplicate' | 'refused' | { mistake: string }> {
  const key = readReplayKey(data);
  if (key === undefined) throw notRunning(tracker);
  const address = new URL(`/postback/${encodeURIComponent(refused.source)}`, tracker);
  const headers = { authorization: replayAuthorization(key), 'content-type': 'application/json' };
  const body = JSON.stringify(refused);
  // Others behind it may hold.
  if (Buffer.byteLength(body) > maxReplayBytes) return { mistake: `it is longer than ${maxReplayBytes} bytes` };
  let status: number;
  let text: string;
  try {
    const answer = await request(address, { method: 'POST', headers, body });
    status = answer.statusCode;
    text = await answer.body.text();
  } catch (error) {
    throw notRunning(tracker, error);
  }
  if (status === 503 || status === 429)
    throw new OfferlineError(`The tracker at ${tracker} cannot record now (${status}): run again in a moment.`);
  if (status === 401)
    throw new OfferlineError(
      `The tracker at ${tracker} is not that of ${data.root}, or does not know ${refused.source} yet, or was started while the disk took nothing: name the right address before the word replay, as in \`offerline track --port 8082 replay\`, replay again once it has read sources.json, or start it again. Nothing is lost.`,
    );
  const said = membersOf(text);
  // By the reason, too: other servers have statuses such as 404 as well.
  if (refusalStatus[said.error as RefusalReason] === status) return 'refused';
  if (status === 200 && said.status === 'ignored') return 'refused';
  if (status === 200 && (said.status === 'recorded' || said.status === 'duplicate')) return said.status;
  throw new OfferlineError(
    `What answers at ${tracker}, with ${status}, is no tracker of this version: name the right address before the word replay, as in \`offerline track --port 8082 replay\`. Nothing is lost.`,
  );
}

/** The members of an answer in JSON; none of any other. */
function membersOf(text: string): { status?: unknown; error?: unknown } {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}

function notRunning(tracker: string, cause?: unknown): OfferlineError {
  return new OfferlineError(
    `No tracker answers at ${tracker}: start it with \`offerline track\`, or name its address before the word replay, as in \`offerline track --port 8082 replay\`; nothing is lost.`,
    undefined,
    { cause },
  );
}
