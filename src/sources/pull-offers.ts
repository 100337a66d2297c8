import type { Effects } from '../kit/files/effects.ts';
import type { Moment } from '../kit/time/moment.ts';
import type { JsonValue } from '../kit/text/json-text.ts';
import { isJsonObject, jsonText } from '../kit/text/json-text.ts';
import type { CanonicalRecord } from './connectors/connector.ts';
import { scalarText } from '../kit/intake/mapping/places.ts';
import { findValue } from '../kit/intake/mapping/read-members.ts';
import { NetworkRecord } from './records/record-fields.ts';
import { FetchError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { writeExport } from './offer-export.ts';
import type { ResolvedSource } from './resolve-source.ts';
import { CampaignLinks, type CampaignLinkStore } from './campaign-links.ts';
import { retryIfMoved, MovedError, fetchAllPages, pageFacts, type ListItem } from './fetch-all-pages.ts';
import { compareTexts } from '../kit/text/compare-texts.ts';

/** Summary of a complete pull of offers. */
interface OffersPull {
  pages: number;
  records: number;
  /** The file written into the landing folder; null where the last one has the same content. */
  file: string | null;
  /** Records left out on purpose, by reason. */
  leftOut: Record<string, number>;
  warnings: Record<string, number>;
}

/**
 * Pulls a source's complete list of offers and writes it as one export; throws `FetchError` and writes nothing else.
 */
export async function pullOffers(
  source: ResolvedSource,
  folder: string,
  pulledAt: Moment,
  store: CampaignLinkStore,
  fetching: Fetching,
  effects: Effects,
): Promise<OffersPull> {
  const links = new CampaignLinks(source, fetching, store);
  return retryIfMoved(() => pullOnce(source, folder, pulledAt, links, fetching, effects), fetching.onRetry);
}

async function pullOnce(
  { offers, ...asking }: ResolvedSource,
  folder: string,
  pulledAt: Moment,
  links: CampaignLinks,
  fetching: Fetching,
  effects: Effects,
): Promise<OffersPull> {
  if (offers === undefined) throw new FetchError('the source has no list of offers');
  const { stream, toCanonical, idAt, isFull } = offers;
  const counts = { leftOut: {} as Record<string, number>, warnings: {} as Record<string, number> };
  // Bytes, since a text that is joined from many parts keeps all of them in memory.
  const lines = new Map<string, Buffer>();
  const fetchPage = pagesOf(asking, stream, fetching);
  const read = await fetchAllPages(stream, {
    idAt,
    cureOfLength: 'Declare several sources, each of which asks for a part of the list',
    fetch: async (page) => {
      const answer = await fetchPage(page);
      await links.learn(pageFacts(stream, answer).records);
      return answer;
    },
    read: (record) => {
      const fields = new NetworkRecord(record);
      return lineOf(record, toCanonical(fields, links.of(fields)), idAt);
    },
    take: (items) => {
      for (const { id, line, leftOut, warnings } of items) {
        if (leftOut !== undefined) addTo(counts.leftOut, leftOut);
        for (const warning of new Set(warnings)) addTo(counts.warnings, warning);
        if (line === undefined) continue;
        const bytes = Buffer.from(`${line}\n`);
        if (lines.get(id)?.equals(bytes) === false)
          throw new MovedError(`offer ${id} is listed twice with different values`);
        lines.set(id, bytes);
      }
    },
  });
  links.requireAny();
  if (isFull && lines.size === 0) {
    const reasons = Object.keys(counts.leftOut).join(', ');
    throw new FetchError(
      `all ${read.records} records are left out (${reasons}): nothing is written, and its current offers stay`,
    );
  }
  const ids = [...lines.keys()].toSorted(compareTexts);
  const sorted = ids.map((id) => lines.get(id) as Buffer);
  return { ...read, ...counts, file: await writeExport(folder, sorted, pulledAt, effects) };
}

interface OfferLine extends ListItem {
  /** Undefined where the record is left out. */
  line?: string;
  leftOut?: string;
  warnings?: readonly string[];
}

/** A record without an id is identified by its whole text: landing rejects it by name. */
function lineOf(record: JsonValue, made: CanonicalRecord, idAt: readonly string[] | undefined): OfferLine {
  const isNamed = isNamedOffer(record, made, idAt);
  if ('leftOut' in made) return { id: jsonText(record), isNamed, leftOut: made.leftOut };
  const line = jsonText(made.record);
  return { id: scalarText(made.record['external_id']) ?? line, isNamed, line, warnings: made.warnings ?? [] };
}

/** True for a record with an id. A known network's record that is left out was read: it has one. */
export function isNamedOffer(record: JsonValue, made: CanonicalRecord, idAt: readonly string[] | undefined): boolean {
  if ('record' in made) return scalarText(made.record['external_id']) !== undefined;
  return idAt === undefined ? isJsonObject(record) : findValue(record, idAt).value !== undefined;
}

function addTo(counts: Record<string, number>, reason: string): void {
  counts[reason] = (counts[reason] ?? 0) + 1;
}
