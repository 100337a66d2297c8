import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { readSettingsText } from '../../kit/config/settings.ts';
import { linesOfValues } from '../../kit/text/json-places.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import type { LandingFile } from '../landing/landing-file.ts';
import type { Run } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';

/**
 * Warns of sources in `offerline.json` of which no catalog has ever landed, each with its line. Such a name may be a
 * slip of the pen, and the exports of a `delta` would then remove all offers that they lack.
 */
export async function warnOfUnknownSources(
  { data, settings, logger }: Run,
  { connection }: StateDatabase,
  files: readonly LandingFile[],
): Promise<void> {
  const named = [
    ...Object.keys(settings.sources).map((source) => ['sources', source]),
    ...Object.keys(settings.tracker.sources).map((source) => ['tracker', 'sources', source]),
  ];
  if (named.length === 0) return;
  const rows = await queryRows<{ source: string }>(connection, 'SELECT DISTINCT source FROM offers');
  const known = new Set([...rows, ...files].flatMap(({ source }) => (source === null ? [] : [source])));
  const unknown = named.filter((place) => !known.has(place.at(-1) as string));
  if (unknown.length === 0) return;
  const lineOf = linesOfValues(readSettingsText(data) ?? '');
  for (const place of unknown) {
    const nearest = nearestWord(place.at(-1) as string, known);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    logger.warn(
      `${data.settingsFile}, line ${lineOf(place)}: ${place.join('.')} names a folder of landing/offers in which no catalog has landed${hint}`,
    );
  }
}
