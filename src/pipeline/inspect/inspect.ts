import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { modifiedNsOf } from '../../kit/files/file-version.ts';
import { knownPlaces } from '../../kit/intake/known-names.ts';
import type { AbsentColumns } from '../../kit/intake/mapping/absent-columns.ts';
import type { ScoreHeader } from '../../kit/intake/reading/header-search.ts';
import { mappedFields } from '../../kit/intake/mapping/mapped-fields.ts';
import { fileMappingSchema, mappingForFile, type FileMapping } from '../../kit/intake/mapping/mapping-schema.ts';
import { scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../kit/text/json-text.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { shellWord } from '../../kit/text/shell-word.ts';
import { landingKinds, type LandingKind } from '../../kit/vocabulary/values.ts';
import { hasTextCells } from '../ingest/catalog/reading-digest.ts';
import { absentIn } from '../landing/lines/map-lines.ts';
import { conflictCure } from './conflict-cure.ts';
import { globFor } from './file-glob.ts';
import type { Inspection, SeenPlace } from './inspection.ts';
import { hasOwnFields, withCurrency } from './own-fields.ts';
import { proposeMapping, type Proposal } from './propose-mapping.ts';
import { TrialReading } from './trial-reading.ts';

export interface InspectRequest {
  file: string;
  /** What its records are; recognized by the folder or by the names of its columns if not given. */
  as?: LandingKind | undefined;
  /** What the file does not say itself. */
  format?: FileMapping['format'] | undefined;
  /** Records that are read as they would be. */
  rows?: number | undefined;
  stop?: AbortSignal | undefined;
}

const defaultRows = 100;
const unknownKind = 'what is it? Say --as offers, --as clicks or --as conversions';
const noColumns = 'no row is a record of named columns: where the header is further down, --header N names its row';
const maxExamples = 3;
const maxExampleCharacters = 40;
const maxPlaces = 200;
const maxDepth = 4;

/** Encoding of most tables that are not UTF-8, as Excel writes them in Western Europe. */
const otherEncoding = 'windows-1252';

/** Reads a file without loading it: what it is, what a mapping could be, what would become of its first records. */
export async function inspectFile(
  data: DataDirectory,
  settings: Settings,
  request: InspectRequest,
  now: number,
): Promise<Inspection> {
  const inspection = await inspectAsSaid(data, settings, request, now);
  if (inspection.problem?.reason !== 'bad_utf8' || request.format?.encoding !== undefined) return inspection;
  const format = { ...request.format, encoding: otherEncoding };
  const again = await inspectAsSaid(data, settings, { ...request, format }, now);
  // A mapping of offerline.json is what landing goes by; and UTF-16 without its mark can be read as anything.
  const isText = again.problem === null && !again.places.some(({ place }) => place.includes('\0'));
  if (!isText || again.mapping_is === 'configured') return inspection;
  const doubt = `it is not UTF-8: read as ${otherEncoding}. Look whether letters such as ä and é are right; --encoding names another`;
  return { ...again, doubts: [doubt, ...again.doubts] };
}

async function inspectAsSaid(
  data: DataDirectory,
  settings: Settings,
  request: InspectRequest,
  now: number,
): Promise<Inspection> {
  const file = await landingFileAt(data, request.file);
  const configured = file.isLanded ? mappingForFile(settings.files, file.path) : undefined;
  const folder = file.isLanded ? landingKinds.find((kind) => file.path.startsWith(`${kind}/`)) : undefined;
  const as = request.as ?? folder;
  const scratch = await mkdtemp(join(tmpdir(), 'offerline-inspect-'));
  try {
    const rows = request.rows ?? defaultRows;
    const reading = new TrialReading(scratch, settings, now, request.stop);
    const given = request.format ?? configured?.format ?? {};
    const foreign = await reading.read({ ...file, kind: as ?? 'clicks' }, given, {
      rows,
      configured,
      score: configured === undefined ? headerScore(as) : undefined,
    });
    const path = file.isLanded ? file.path : null;
    const nothing = { ...nothingKnown(request.file, path, file.bytes), kind: as ?? null };
    if ('problem' in foreign) return { ...nothing, problem: foreign.problem };
    const inspection = { ...nothing, format: foreign.format };
    const records = foreign.records.flatMap(({ raw }) => objectOf(raw));
    if (records.length === 0 && foreign.count > 0)
      return { ...inspection, records: foreign.count, doubts: [noColumns] };
    const places = placesOf(records);
    const names = places.map(({ place }) => place);
    const kind = as ?? likelyKind(names);
    const seen = { ...inspection, kind: kind ?? null, records: foreign.count, places };
    // Records of a list that was found have lists of their own, which are none of the file.
    const isOfList = given.records !== undefined || (foreign.format === 'json' && foreign.count > 1);
    const lists = isOfList ? [] : listDoubts(names, records);
    if (kind === undefined) return { ...seen, doubts: [unknownKind, ...lists] };
    const { headerRow, format } = foreign.file;
    const { mapping, ...proposed } = mappingFor(kind, names, records, {
      configured,
      isTable: hasTextCells(format),
      format: headerRow === undefined ? given : { ...given, header: headerRow },
      headerRow,
      path,
      lists,
    });
    if (proposed.mapping_is === 'proposed' && mapping === undefined) return { ...seen, ...proposed };
    const became = await reading.try({ ...file, kind }, mapping, foreign);
    return {
      ...seen,
      ...proposed,
      ...became,
      doubts: [...proposed.doubts, ...conflictDoubts(kind, became), ...became.dropped.map(droppedDoubt)],
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface FileAt {
  source: null;
  /** In the landing folder where it is there. */
  path: string;
  isLanded: boolean;
  absolutePath: string;
  bytes: number;
  modifiedNs: bigint;
  changedNs: bigint;
}

/** Throws `UsageError` where there is no file. */
async function landingFileAt(data: DataDirectory, name: string): Promise<FileAt> {
  const absolutePath = resolve(name);
  const about = await stat(absolutePath, { bigint: true }).catch((error: Error) => {
    throw new UsageError(`${name} cannot be read: ${error.message}`, { cause: error });
  });
  if (!about.isFile()) throw new UsageError(`${name} is no file`);
  const path = relative(resolve(data.landing), absolutePath).split(sep).join('/');
  const isLanded = landingKinds.some((kind) => path.startsWith(`${kind}/`));
  return {
    source: null,
    path: isLanded ? path : name,
    isLanded,
    absolutePath,
    bytes: Number(about.size),
    modifiedNs: modifiedNsOf(about),
    changedNs: about.ctimeNs,
  };
}

/** Counts the names that exports are known to have: one alone may be a word of a title. */
function headerScore(as: LandingKind | undefined): ScoreHeader {
  return (cells) => {
    const known = (as === undefined ? landingKinds : [as]).map((kind) => knownPlaces(kind, cells).size);
    const most = Math.max(...known);
    return most < 2 ? 0 : most;
  };
}

function nothingKnown(file: string, path: string | null, bytes: number): Inspection {
  return {
    file,
    path,
    bytes,
    format: 'unknown',
    problem: null,
    kind: null,
    records: 0,
    places: [],
    mapping_is: 'unknown',
    written: null,
    seen: {},
    missing: [],
    doubts: [],
    rows: [],
    tried: 0,
    passed_over: 0,
    rejects: [],
    conflicts: 0,
    dropped: [],
  };
}

function objectOf(text: string): JsonObject[] {
  const record = parseJson(text);
  return isJsonObject(record) ? [record] : [];
}

/** Places of scalars and of lists, in the order in which they are first seen. */
function placesOf(records: readonly JsonObject[]): SeenPlace[] {
  const seen = new Map<string, { filled: number; examples: Set<string> }>();
  const visit = (value: JsonValue, place: string, depth: number): void => {
    if (isJsonObject(value) && depth < maxDepth) {
      for (const [key, member] of Object.entries(value))
        visit(member, place === '' ? key : `${place}.${key}`, depth + 1);
      return;
    }
    const found = seen.get(place) ?? { filled: 0, examples: new Set() };
    if (seen.size < maxPlaces) seen.set(place, found);
    const text = Array.isArray(value) ? `list of ${value.length}` : (scalarText(value)?.trim() ?? '');
    if (text === '') return;
    found.filled++;
    if (found.examples.size < maxExamples) found.examples.add(text.slice(0, maxExampleCharacters));
  };
  for (const record of records) visit(record, '', 0);
  return [...seen].map(([place, { filled, examples }]) => ({
    place,
    filled: filled / records.length,
    examples: [...examples],
  }));
}

/** Returns the kind whose required fields have known names there; undefined where none has, or several have as many. */
function likelyKind(places: readonly string[]): LandingKind | undefined {
  const known = new Map(landingKinds.map((kind) => [kind, knownPlaces(kind, places)]));
  const conversions = known.get('conversions');
  // A list of conversions names their clicks, too.
  const isConversions =
    ['conversion_id', 'occurred_at'].every((name) => conversions?.has(name)) && conversions?.has('payout');
  if (isConversions) return 'conversions';
  const scores = [...known].map(([kind, names]) => {
    const { required } = mappedFields[kind];
    return {
      kind,
      score: required.filter((choice) => choice.some((name) => names.has(name))).length / required.length,
    };
  });
  const [best, second] = scores.toSorted((one, other) => other.score - one.score);
  return best !== undefined && best.score > 0.5 && best.score > (second?.score ?? 0) ? best.kind : undefined;
}

/** Says where the records may be, of documents that are none themselves. */
function listDoubts(places: readonly string[], records: readonly JsonObject[]): string[] {
  const holdsRecords = (place: string) =>
    records.some((record) => {
      const value = valueAt(record, place);
      return Array.isArray(value) && value.some(isJsonObject);
    });
  return places.filter(holdsRecords).map((place) => `its records may be at ${place}: --records ${shellWord(place)}`);
}

function droppedDoubt({ field, rows, example }: Inspection['dropped'][number]): string {
  return `${field} would be dropped in ${rows} of them, such as ${JSON.stringify(example)}: "words" says what each of its words means`;
}

function conflictDoubts(kind: LandingKind, { conflicts }: Pick<Inspection, 'conflicts'>): string[] {
  if (conflicts === 0) return [];
  const what = conflicts === 1 ? '1 of them says' : `${conflicts} of them say`;
  return [`${what} something else than an earlier one under the same id, and would not count: ${conflictCure(kind)}`];
}

/** Says that a field has no column, and what may be meant. */
function columnDoubt({ field, places }: AbsentColumns, names: readonly string[]): string {
  const [place = ''] = places;
  const nearest = nearestWord(place, names);
  const meant = nearest === undefined ? '' : `"${nearest}" is one. `;
  return `${field}: there is no column ${places.map((each) => `"${each}"`).join(' or ')}, so it is absent in all records. ${meant}A constant is {"value": ${JSON.stringify(place)}}`;
}

/** The mapping by which records are tried, and what is said of it. */
function mappingFor(
  kind: LandingKind,
  names: readonly string[],
  records: readonly JsonObject[],
  {
    configured,
    isTable,
    format,
    headerRow,
    path,
    lists,
  }: {
    configured: FileMapping | undefined;
    isTable: boolean;
    format: FileMapping['format'];
    headerRow: number | undefined;
    path: string | null;
    /** Says where the records may be instead. */
    lists: readonly string[];
  },
): Pick<Inspection, 'mapping_is' | 'seen' | 'missing' | 'doubts'> & {
  mapping: FileMapping | undefined;
} & Pick<Inspection, 'written'> {
  const none = { seen: {}, missing: [], doubts: [], written: null };
  if (configured !== undefined)
    return {
      ...none,
      mapping_is: 'configured',
      mapping: configured,
      doubts: isTable ? absentIn(configured, names).map((absent) => columnDoubt(absent, names)) : [],
    };
  const isOurs = hasOwnFields(kind, { names, isTable });
  const ofCurrency = isOurs ? withCurrency(kind, { names, isTable }, records) : undefined;
  if (isOurs && Object.keys(format).length === 0 && ofCurrency === undefined)
    return { ...none, mapping_is: 'none', mapping: undefined };
  const { fields, ...said }: Partial<Proposal> & Omit<Proposal, 'fields'> = isOurs
    ? (ofCurrency ?? { seen: {}, missing: [], doubts: [] })
    : proposeMapping(kind, names, records);
  if (said.missing.length > 0) said.doubts.push(...lists);
  if (headerRow !== undefined) said.doubts.push(`the names of its columns are in row ${headerRow}, below titles`);
  if (kind !== 'offers' && path?.split('/').length === 2)
    said.doubts.push(
      `it is in ${kind}/ itself, with the logs of all others: the mapping is for this file alone. In a folder of its own, as ${kind}/partner/, later files are read by it, too`,
    );
  const written = {
    match: (path === null ? undefined : globFor(path)) ?? `${kind}/NAME/**`,
    ...(Object.keys(format).length > 0 && { format }),
    ...(fields !== undefined && { fields }),
  };
  const read = fileMappingSchema.safeParse(written);
  return { ...said, mapping_is: 'proposed', written, mapping: read.success ? read.data : undefined };
}
