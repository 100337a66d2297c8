import type { Effects } from '../kit/files/effects.ts';
import { addDays, compareMoments, dayOf, type Day } from '../kit/time/moment.ts';
import type { NetworkConversion } from './connectors/network-conversion.ts';
import { readyConversion, type ConversionReading } from './conversions/ready-conversion.ts';
import { emittedAs } from './conversions/emitted-id.ts';
import { linesFor, type ConversionLine, type EmittedConversion } from './conversions/emitted-conversions.ts';
import type { EmittedStore } from './conversions/emitted-store.ts';
import { FetchError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { writeExport } from './offer-export.ts';
import type { ResolvedSource } from './resolve-source.ts';
import { jsonText } from './records/canonical-offer.ts';
import { NetworkRecord } from './records/record-fields.ts';
import { retryIfMoved, MovedError, fetchAllPages } from './fetch-all-pages.ts';

/** What a pull of a source's conversions came to. */
export interface ConversionsPull {
  /** Conversions that the network listed, and lines that were written of them. */
  conversions: number;
  lines: number;
  /** Conversions that wait, or were left out, by reason. */
  leftOut: Record<string, number>;
}

/** Days are those of the network's own calendar, which may be a day ahead or behind. */
const daysBeside = 1;

/**
 * Pulls the conversions of the last `days`, a window after the other, and writes what they add to what was told into
 * the folder. A window that does not come whole writes nothing, and the pull ends there. Throws `FetchError` saying
 * why.
 */
export async function pullConversions(
  source: ResolvedSource,
  folder: string,
  days: number,
  reading: ConversionReading,
  store: EmittedStore,
  fetching: Fetching,
  effects: Effects,
): Promise<ConversionsPull> {
  if (source.conversions === undefined) throw new FetchError('the network lists no conversions');
  const { windowDays } = source.conversions;
  const today = dayOf(reading.pulledAt);
  const sum: ConversionsPull = { conversions: 0, lines: 0, leftOut: {} };
  for (let from = addDays(today, -days); from <= today; from = addDays(from, windowDays)) {
    const last = addDays(from, windowDays - 1);
    const to = last < today ? last : today;
    const listed = await retryIfMoved(() => listWindow(source, from, to, fetching), fetching.onRetry);
    sum.conversions += listed.length;
    const { lines, emitted } = newsOf(listed, reading, store, sum.leftOut);
    if (lines.length > 0)
      await writeExport(
        folder,
        lines.map((line) => Buffer.from(`${jsonText({ ...line })}\n`)),
        reading.pulledAt,
        effects,
        source.name,
      );
    await effects.perform('conversions: emitted', async () => store.put(reading.source, emitted));
    sum.lines += lines.length;
  }
  return sum;
}

/** The conversions of a window; undefined for a record that is none. */
async function listWindow(
  { conversions, ...asking }: ResolvedSource,
  from: Day,
  to: Day,
  fetching: Fetching,
): Promise<(NetworkConversion | undefined)[]> {
  if (conversions === undefined) return [];
  const { stream, toConversion } = conversions;
  const listed = new Map<string, { text: string; conversion: NetworkConversion | undefined }>();
  await fetchAllPages(stream, {
    mayBeEmpty: true,
    fetch: pagesOf(asking, stream, fetching, { from: addDays(from, -daysBeside), to: addDays(to, daysBeside) }),
    read: (record) => {
      const conversion = toConversion(new NetworkRecord(record));
      const text = jsonText(record);
      return { id: conversion?.id ?? text, text, conversion };
    },
    take: (items) => {
      for (const { id, ...item } of items) {
        if ((listed.get(id)?.text ?? item.text) !== item.text)
          throw new MovedError(`conversion ${id} is listed twice with different values`);
        listed.set(id, item);
      }
    },
  });
  return [...listed.values()].map(({ conversion }) => conversion);
}

/** Lines that say what was not told yet, by moment, and what is told once they are written. */
function newsOf(
  listed: readonly (NetworkConversion | undefined)[],
  reading: ConversionReading,
  store: EmittedStore,
  leftOut: Record<string, number>,
): { lines: ConversionLine[]; emitted: Map<string, EmittedConversion> } {
  const count = (reason: string) => (leftOut[reason] = (leftOut[reason] ?? 0) + 1);
  const lines: ConversionLine[] = [];
  const emitted = new Map<string, EmittedConversion>();
  for (const conversion of listed) {
    const read = conversion === undefined ? 'unreadable' : readyConversion(conversion, reading);
    if (typeof read === 'string') {
      count(read);
      continue;
    }
    const { id, emitted: before } = emittedAs(reading.source, read.id, reading.otherSources, store);
    const ready = { ...read, id };
    const news = linesFor(ready, before);
    if (ready.status === 'pending') count('pending');
    lines.push(...news.lines);
    if (news.emitted !== undefined && news.emitted !== before) emitted.set(ready.id, news.emitted);
  }
  return { lines: lines.toSorted((one, other) => compareMoments(one.occurred_at, other.occurred_at)), emitted };
}
