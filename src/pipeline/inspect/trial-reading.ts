import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../kit/config/settings.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { insertRows } from '../../kit/duckdb/insert-rows.ts';
import { inMemory, withDuckDB } from '../../kit/duckdb/open.ts';
import { makeEmptyTempTable } from '../../kit/duckdb/temp-table.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import type { FileMapping } from '../../kit/intake/mapping/mapping-schema.ts';
import { scalarText } from '../../kit/intake/mapping/places.ts';
import { matchNames } from '../../kit/intake/reading/header-names.ts';
import type { ScoreHeader } from '../../kit/intake/reading/header-search.ts';
import type { FileProblem } from '../../kit/intake/reading/record-sink.ts';
import { isJsonObject, jsonText, parseJson } from '../../kit/text/json-text.ts';
import { dateOf, momentOfMilliseconds, type Moment } from '../../kit/time/moment.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { hasTextCells } from '../ingest/catalog/reading-digest.ts';
import { catalogColumns } from '../ingest/open-new-files.ts';
import { eventsOfStates } from '../ingest/states/state-events.ts';
import { allRecordsOf } from '../landing/catalog/catalog-records.ts';
import { parseOfferRecord } from '../landing/catalog/offer-record.ts';
import { checkFile, noLimits } from '../landing/files/check-files.ts';
import { LandingRecord, QuarantineError, type CheckedFile, type LandingFile } from '../landing/landing-file.ts';
import { describeMissing, fileLines } from '../landing/lines/file-lines.ts';
import { isState, LineMapper } from '../landing/lines/map-lines.ts';
import { rawOfLine } from '../landing/lines/mapped-line.ts';
import { recordNamesBy, recordNamesOf } from '../landing/lines/record-names.ts';
import { clickSchema, conversionSchema, type LogSchema } from '../landing/logs/log-fields.ts';
import { droppableFields, numberedLines, parsedLog } from '../landing/logs/log-parser.ts';
import { FirstContents } from './first-contents.ts';
import type { TriedRecords } from './inspection.ts';
import { rejectCure } from './reject-cure.ts';

/** Records of a file under the names that they have there. */
interface ReadRecords {
  format: string;
  file: CheckedFile;
  /** The first of them. */
  records: LandingRecord[];
  /** Number of all of them. */
  count: number;
  /** The first of them as a configured mapping reads them, and how many of all it passes over. */
  mapped?: { records: LandingRecord[]; passedOver: number };
}

interface TrialOptions {
  /** Records that are kept. */
  rows: number;
  /** The mapping of offerline.json. */
  configured: FileMapping | undefined;
  /** Finds a header below titles. */
  score: ScoreHeader | undefined;
}

/** Columns of Parquet as they are written. */
const nothingKnown = { required: [], fields: [] };
const maxRows = 5;
const maxRawCharacters = 200;
const maxExampleCharacters = 60;

/** Reads files as landing does, without a warehouse. */
export class TrialReading {
  readonly #scratch: string;
  readonly #settings: Settings;
  readonly #wallClock: Moment;
  readonly #stop: AbortSignal | undefined;

  constructor(scratch: string, settings: Settings, now: number, stop: AbortSignal | undefined) {
    this.#scratch = scratch;
    this.#settings = settings;
    this.#wallClock = momentOfMilliseconds(now);
    this.#stop = stop;
  }

  /** Reads a file once. */
  async read(
    file: LandingFile,
    format: FileMapping['format'],
    { rows, configured, score }: TrialOptions,
  ): Promise<ReadRecords | { problem: FileProblem }> {
    const scratchPath = join(this.#scratch, 'read');
    // A mapping without a field finds all records, as they are written there.
    const all = { match: '', kind: file.kind, format, rows: undefined, fields: { fields: {}, events: undefined } };
    const names = configured && recordNamesBy(configured);
    const by = { mapping: all, rates: this.#settings.rates, keepsRecords: true, names };
    const maxUnpackedBytes = this.#settings.unpacked_gigabytes * 1e9;
    const limits = { ...noLimits, maxUnpackedBytes };
    const check = await checkFile(file, { scratchPath, limits, mapping: by, score, stop: this.#stop });
    if (check.unreadable !== undefined) throw new UsageError(`${file.path} cannot be opened (${check.unreadable})`);
    if (check.problem !== undefined) return { problem: check.problem };
    const mapper = configured && new LineMapper({ mapping: configured, rates: this.#settings.rates });
    try {
      const read = await withDuckDB(inMemory, { threads: '1' }, (connection) =>
        fileLines(connection, { ...file, ...check }, nothingKnown, {
          scratchPath,
          maxUnpackedBytes,
          mapping: by,
        }),
      );
      const [records, mapped]: [LandingRecord[], LandingRecord[]] = [[], []];
      let count = 0;
      for await (const some of allRecordsOf(read)) {
        count += some.length;
        records.push(...some.slice(0, Math.max(0, rows - records.length)));
        if (mapper !== undefined)
          for (const record of some) {
            const line = mapper.map(configured?.fields === undefined ? inOurNames(record.raw, read) : record.raw);
            if (line !== '' && mapped.length < rows) mapped.push(new LandingRecord(record.line, Buffer.from(line)));
          }
      }
      const found = { format: check.format, file: read, records, count };
      return mapper === undefined
        ? found
        : { ...found, mapped: { records: mapped, passedOver: mapper.facts.passedOver } };
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw error;
      return { problem: { reason: error.reason, detail: error.message } };
    }
  }
  /** Reads a file's first records as they would be read; without a mapping they are ours. */
  async try(
    file: LandingFile,
    mapping: FileMapping | undefined,
    { mapped, ...found }: ReadRecords,
  ): Promise<TriedRecords & { problem: FileProblem | null }> {
    const { kind } = file;
    // What it is may be known only since it was read.
    const read = { ...found, file: { ...found.file, kind } };
    const problem = mapping?.fields === undefined ? this.#missingColumn(kind, read) : null;
    if (problem !== null)
      return { tried: 0, rows: [], passed_over: 0, rejects: [], conflicts: 0, dropped: [], problem };
    const { records, passedOver } = mapped ?? this.#mapped(mapping, read);
    const became =
      kind === 'offers'
        ? this.#offers(file, { ...read, records })
        : await this.#events(this.#schemaOf(kind), { ...read, records }, mapping !== undefined && isState(mapping));
    return { tried: records.length, passed_over: passedOver, problem, ...became };
  }

  #mapped(mapping: FileMapping | undefined, { file, records }: ReadRecords): NonNullable<ReadRecords['mapped']> {
    const isOurs = mapping?.fields === undefined;
    const texts = records.map(({ line, raw }) => ({ line, text: isOurs ? inOurNames(raw, file) : raw }));
    const mapper = mapping && new LineMapper({ mapping, rates: this.#settings.rates });
    const lines = texts.map(({ line, text }) => ({ line, text: mapper?.map(text) ?? text }));
    return {
      records: lines.flatMap(({ line, text }) => (text === '' ? [] : [new LandingRecord(line, Buffer.from(text))])),
      passedOver: mapper?.facts.passedOver ?? 0,
    };
  }

  /** Returns why landing refuses a table without a column that each record needs. */
  #missingColumn(kind: LandingKind, { file, records }: ReadRecords): FileProblem | null {
    if (!hasTextCells(file.format)) return null;
    const first = records.map(({ raw }) => parseJson(inOurNames(raw, file))).find(isJsonObject);
    const { required } = kind === 'offers' ? catalogColumns : this.#schemaOf(kind);
    if (first === undefined) return null;
    const missing = required.filter((name) => !Object.hasOwn(first, name));
    return missing.length === 0
      ? null
      : { reason: 'missing_column', detail: describeMissing(missing, Object.keys(first)) };
  }

  #schemaOf(kind: Exclude<LandingKind, 'offers'>): LogSchema {
    const reading = { wallClock: this.#wallClock, timeZone: this.#settings.logs[kind].time_zone };
    return kind === 'clicks' ? clickSchema(reading) : conversionSchema(reading);
  }

  #offers({ path }: LandingFile, { file, records }: ReadRecords): JudgedRecords {
    const source = path.split('/')[1] ?? '';
    const { rates: currencyRates, sources } = this.#settings;
    const timeZone = Object.hasOwn(sources, source) ? sources[source]?.time_zone : undefined;
    const reading = {
      currencyRates,
      timeZone,
      wallClock: dateOf(this.#wallClock),
      textCells: hasTextCells(file.format),
    };
    const rows: object[] = [];
    const rejects = new RejectCounts();
    const dropped = new DroppedValues();
    const ids = new FirstContents();
    for (const { line, text, raw } of records) {
      const read = parseOfferRecord(text, reading);
      if ('reject' in read) {
        rejects.add(read.reject, line, raw);
        continue;
      }
      for (const { warning, field } of read.warnings)
        if (field !== null && warning === `bad_${field}`) dropped.add(field, text);
      ids.add(read.offer.external_id, JSON.stringify(read.offer));
      if (rows.length < maxRows) rows.push(read.offer);
    }
    return { rows, rejects: rejects.list(), conflicts: ids.conflicts, dropped: dropped.list() };
  }

  /**
   * `areStates`: rows say how conversions stand, and are shown as the events that they become where nothing was emitted
   * before.
   */
  async #events(schema: LogSchema, { file, records }: ReadRecords, areStates: boolean): Promise<JudgedRecords> {
    const { lines, conflicts } = areStates
      ? await this.#linesOfStates(file, records)
      : { lines: [`(SELECT line, raw FROM tried_records)`], conflicts: 0 };
    return withDuckDB(inMemory, { threads: '1' }, async (connection) => {
      await connection.run(`SET TimeZone = 'UTC'`);
      const table = await makeEmptyTempTable(connection, 'tried_records', 'line BIGINT, raw VARCHAR');
      const rows = records.map(({ line, text }) => ({ line, raw: text }));
      await insertRows(connection, table, { line: 'BIGINT', raw: 'VARCHAR' }, rows);
      const rejects = new RejectCounts();
      const dropped = new DroppedValues();
      const textAt = new Map(records.map(({ line, text }) => [line, text]));
      const good: object[] = [];
      const ids = new FirstContents();
      for (const relation of lines) {
        const found = await queryRows<Record<string, unknown> & { reject: string | null }>(
          connection,
          `SELECT * EXCLUDE (file_id, warnings) FROM (${parsedLog(schema, `(SELECT 1 AS file_id, line, raw FROM ${relation})`)}) ORDER BY line`,
        );
        for (const { line: at, reject, ...event } of found) {
          if (reject !== null) {
            const { line, reason, raw } = JSON.parse(reject) as { line: number; reason: string; raw: string };
            rejects.add(reason, line, raw);
            continue;
          }
          ids.add(schema.key.map((name) => String(event[name])).join(' '), JSON.stringify(event));
          const text = textAt.get(Number(at));
          for (const { name } of droppableFields(schema)) if (event[name] === null) dropped.add(name, text);
          if (good.length < maxRows)
            good.push(Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null)));
        }
      }
      return {
        rows: good,
        rejects: rejects.list(),
        conflicts: conflicts + ids.conflicts,
        dropped: dropped.list(),
      };
    });
  }

  async #linesOfStates(
    file: CheckedFile,
    records: readonly LandingRecord[],
  ): Promise<{ lines: string[]; conflicts: number }> {
    const first = join(this.#scratch, 'first-states.ndjson');
    const texts = new Map(records.map(({ line, text }) => [line, text]));
    const last = records.at(-1)?.line ?? 0;
    const lines = Array.from(
      { length: Math.max(0, last - file.firstRow + 1) },
      (_, index) => texts.get(file.firstRow + index) ?? '',
    );
    await writeFile(first, lines.map((line) => `${line}\n`).join(''));
    const tried = { ...file, fileId: 1, readablePath: first, longLines: [] };
    const reading = { wallClock: this.#wallClock, timeZone: this.#settings.logs.conversions.time_zone };
    const { events } = await eventsOfStates(
      [tried],
      async () => new Map(),
      reading,
      () => join(this.#scratch, 'states'),
    );
    const became = events.get(tried);
    return { lines: numberedLines({ ...tried, ...became?.lines }), conflicts: became?.conflicts ?? 0 };
  }
}

/** A record of a table with the names of its columns as landing spells them. */
function inOurNames(text: string, { kind, format }: Pick<CheckedFile, 'kind' | 'format'>): string {
  const record = hasTextCells(format) ? parseJson(text) : undefined;
  if (!isJsonObject(record)) return text;
  const names = matchNames(Object.keys(record), recordNamesOf(kind).fields);
  return jsonText(Object.fromEntries(Object.values(record).map((value, index) => [names[index] as string, value])));
}

type JudgedRecords = Pick<TriedRecords, 'rows' | 'rejects' | 'conflicts' | 'dropped'>;

/** Values of fields that are dropped, by field, with the first of each. */
class DroppedValues {
  readonly #counts = new Map<string, TriedRecords['dropped'][number]>();

  /** Counts a field that is absent in what became of a record, where the record has a value. */
  add(field: string, text: string | undefined): void {
    const record = text === undefined ? undefined : parseJson(text);
    const value = isJsonObject(record) ? record[field] : undefined;
    const example = scalarText(value) ?? (value === undefined || value === null ? '' : jsonText(value));
    if (example.trim() === '') return;
    const known = this.#counts.get(field);
    if (known === undefined)
      this.#counts.set(field, { field, rows: 1, example: example.slice(0, maxExampleCharacters) });
    else known.rows++;
  }

  list(): TriedRecords['dropped'] {
    return [...this.#counts.values()].toSorted((one, other) => other.rows - one.rows);
  }
}

/** Rejects by reason, with the first of each. */
class RejectCounts {
  readonly #counts = new Map<string, TriedRecords['rejects'][number]>();

  add(reason: string, line: number, raw: string): void {
    const known = this.#counts.get(reason);
    if (known === undefined)
      this.#counts.set(reason, {
        reason,
        rows: 1,
        line,
        raw: rawOfLine(raw).slice(0, maxRawCharacters),
        cure: rejectCure(reason),
      });
    else known.rows++;
  }

  list(): TriedRecords['rejects'] {
    return [...this.#counts.values()].toSorted((one, other) => other.rows - one.rows);
  }
}
