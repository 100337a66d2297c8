import { hash } from 'node:crypto';
import type { Effects } from '../kit/files/effects.ts';
import { addDays, compareMoments, dayOf, type Day } from '../kit/time/moment.ts';
import { correctedConversions, type ListedConversion } from './conversions/corrected-conversions.ts';
import { readyConversion, type ConversionReading } from './conversions/ready-conversion.ts';
import { emittedAs } from './conversions/emitted-id.ts';
import { linesFor, type ConversionLine, type EmittedConversion } from './conversions/emitted-conversions.ts';
import type { EmittedStore } from './conversions/emitted-store.ts';
import type { Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { windowValues } from './http/window-days.ts';
import { promoteExport, stageExport } from './offer-export.ts';
import type { ResolvedSource } from './resolve-source.ts';
import { isJsonObject, jsonText, type JsonValue } from '../kit/text/json-text.ts';
import { findValue } from '../kit/intake/mapping/read-members.ts';
import { NetworkRecord } from './records/record-fields.ts';
import { retryIfMoved, MovedError, fetchAllPages } from './fetch-all-pages.ts';

/** Summary of a pull of conversions. */
interface ConversionsPull {
  /** Conversions that the network listed, and lines written for them. */
  conversions: number;
  lines: number;
  /** Those left out, by reason. */
  leftOut: Record<string, number>;
}

interface PullingConversions {
  source: ResolvedSource;
  /** What the source says of them. */
  conversions: NonNullable<ResolvedSource['conversions']>;
  /** Folder of the landing for lines of conversions. */
  folder: string;
  /** So many days up to today are asked for. */
  days: number;
  reading: ConversionReading;
  /** Conversions that were written before. */
  store: EmittedStore;
  fetching: Fetching;
  effects: Effects;
}

/** Days of the network's own calendar may be one ahead or behind. */
const marginDays = 1;

/**
 * Pulls the conversions of the last `days`, window by window, and writes lines for those that changed into the folder.
 * An incomplete window writes nothing and ends the pull with a `FetchError`. A conversion that two windows list counts
 * once.
 */
export async function pullConversions(pulling: PullingConversions): Promise<ConversionsPull> {
  const { source, conversions, folder, days, reading, store, fetching, effects } = pulling;
  const { windowDays, hasCorrections } = conversions;
  const today = dayOf(reading.pulledAt);
  const sum: ConversionsPull = { conversions: 0, lines: 0, leftOut: {} };
  const daysAtOnce = Math.min(windowDays, days + 1);
  const write = async (listed: readonly ListedConversion[]) => {
    const { lines, emitted, firstIds } = changesIn(listed, reading, store, sum.leftOut);
    const bytes = lines.map((line) => Buffer.from(`${jsonText({ ...line })}\n`));
    const exported =
      bytes.length === 0 ? null : await stageExport(folder, bytes, reading.pulledAt, effects, source.name);
    await effects.perform('conversions: emitted', async () => store.put(reading.source, emitted, firstIds, exported));
    if (exported !== null) await promoteExport(folder, exported, effects);
    sum.lines += lines.length;
  };
  const unfinished = store.lastExport(reading.source);
  if (unfinished !== undefined) await promoteExport(folder, unfinished, effects);
  const ofAllWindows: ListedConversion[][] = [];
  let before: ReadonlyMap<string, string> = new Map();
  for (let from = addDays(today, -days); from <= today; from = addDays(from, daysAtOnce)) {
    const last = addDays(from, daysAtOnce - 1);
    const to = last < today ? last : today;
    // The days at the border of two windows are asked for with both.
    const { listed, digests } = await retryIfMoved(
      () => listWindow(source, conversions, from, to, before, fetching),
      fetching.onRetry,
    );
    before = digests;
    sum.conversions += listed.length;
    // A correction may be in another window than what it corrects.
    if (hasCorrections) ofAllWindows.push(listed);
    else await write(listed);
  }
  if (hasCorrections) await write(correctedConversions(ofAllWindows.flat()));
  return sum;
}

interface ListedWindow {
  /** Conversions that the window before did not have, or had otherwise. */
  listed: ListedConversion[];
  /** Digests of all records by the network's id, or by themselves where they have none. */
  digests: ReadonlyMap<string, string>;
}

/** Lists the conversions of a window and of a day more on each side. `before`: digests of the window before. */
async function listWindow(
  source: ResolvedSource,
  { stream, dateFormat, hasCorrections, toConversion, idAt }: PullingConversions['conversions'],
  from: Day,
  to: Day,
  before: ListedWindow['digests'],
  fetching: Fetching,
): Promise<ListedWindow> {
  const listed: ListedConversion[] = [];
  const digests = new Map<string, string>();
  const days = windowValues(addDays(from, -marginDays), addDays(to, marginDays), dateFormat);
  await fetchAllPages(stream, {
    mayBeEmpty: true,
    // A new conversion comes with the next pull; without a correction of those that came an amount would be wrong.
    mayGrow: !hasCorrections,
    idAt,
    cureOfLength: 'A smaller "window_days" asks for fewer conversions at once',
    fetch: pagesOf(source, stream, fetching, days),
    read: (record) => {
      const conversion = toConversion(new NetworkRecord(record)) ?? 'unreadable';
      const digest = hash('sha256', jsonText(record), 'base64');
      const isNamed = isNamedConversion(record, conversion, idAt);
      return { id: typeof conversion === 'string' ? digest : conversion.id, isNamed, digest, conversion };
    },
    take: (items) => {
      for (const { id, digest, conversion } of items) {
        const known = digests.get(id);
        if (known !== undefined && known !== digest)
          throw new MovedError(`conversion ${id} is listed twice with different values`);
        if (known === undefined && before.get(id) !== digest) listed.push(conversion);
        digests.set(id, digest);
      }
    },
  });
  return { listed, digests };
}

/** True for a record with an id; known networks leave conversions out for other reasons too. */
export function isNamedConversion(
  record: JsonValue,
  conversion: ListedConversion,
  idAt: readonly string[] | undefined,
): boolean {
  if (typeof conversion !== 'string') return true;
  return idAt === undefined ? isJsonObject(record) : findValue(record, idAt).value !== undefined;
}

/** Returns the lines that are not emitted yet, by time, and the state after they are written. */
function changesIn(
  listed: readonly ListedConversion[],
  reading: ConversionReading,
  store: EmittedStore,
  leftOut: Record<string, number>,
): { lines: ConversionLine[]; emitted: Map<string, EmittedConversion>; firstIds: Map<string, string> } {
  const count = (reason: string) => (leftOut[reason] = (leftOut[reason] ?? 0) + 1);
  const lines: ConversionLine[] = [];
  const emitted = new Map<string, EmittedConversion>();
  const firstIds = new Map<string, string>();
  for (const conversion of listed) {
    const read = typeof conversion === 'string' ? conversion : readyConversion(conversion, reading);
    if (typeof read === 'string') {
      count(read);
      continue;
    }
    const { laterId } = read;
    const known = laterId === undefined ? undefined : store.firstId(reading.source, laterId);
    if (laterId !== undefined && known === undefined) firstIds.set(laterId, read.id);
    const { id, emitted: before } = emittedAs(reading.source, known ?? read.id, reading.otherSources, store);
    const ready = { ...read, id };
    const change = linesFor(ready, before);
    lines.push(...change.lines);
    if (change.emitted !== undefined && change.emitted !== before) emitted.set(ready.id, change.emitted);
  }
  const byTime = lines.toSorted((one, other) => compareMoments(one.occurred_at, other.occurred_at));
  return { lines: byTime, emitted, firstIds };
}
