import { createReadStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { addDays, dayOf, momentOfMilliseconds, type Day } from '../../kit/time/moment.ts';
import { bodyKinds, SentParameters } from './guard/sent-parameters.ts';
import { postbackParametersOf } from '../../sources/config/postback-settings.ts';
import { reportedFields } from '../../sources/config/report-fields.ts';
import type { ReportingSource } from './postback-sources.ts';
import type { RefusalReason } from './report/refusal.ts';
import { compareTexts } from '../../kit/text/compare-texts.ts';

const daysKept = 90;
/** The bound of one source, which may be wrong all day long. */
const maxBytesPerDay = 16 * 1024 * 1024;
/** With so many waiting the disk does not answer, and further ones are dropped to bound memory. */
const maxWaiting = 1000;

/**
 * Only a body that nests, so that names repeat, is longer; then the longest parameters are left out. Characters of
 * JSON.
 */
const maxCharacters = 64 * 1024;

/** The longest body of a replay: query and body of a report in JSON, which may write a byte as six. Bytes. */
export const maxReplayBytes = 256 * 1024;

/** A report whose sender is known and that was refused. It holds no secret. */
export const refusedSchema = z.strictObject({
  received_at: z.iso.datetime(),
  source: z.string(),
  reason: z.string(),
  /** Names and values as they came, without credentials. */
  parameters: z.array(z.tuple([z.string(), z.string()])),
  /** Names of those whose bytes were not UTF-8. */
  damaged: z.array(z.string()).optional(),
  /** Names of a JSON body's numbers, lists and objects. */
  kinds: z.array(z.tuple([z.string(), z.enum(bodyKinds)])).optional(),
  /** Number of parameters that were too long to be kept; none of those that the source has names for. */
  left_out: z.int().optional(),
  /** The reason why they could not be read, or not all of them. */
  mistake: z.strictObject({ error: z.enum(['unreadable', 'repeated']), message: z.string() }).optional(),
});
export type RefusedConversion = z.output<typeof refusedSchema>;

/** Turns a report into what is kept of it. `receivedAt` in milliseconds since the epoch. */
export function refusedConversion(
  { name, settings, guard, redactor }: ReportingSource,
  { pairs, mistake, damaged, kinds }: SentParameters,
  reason: RefusalReason,
  receivedAt: number,
): RefusedConversion {
  const isField = (parameter: string) =>
    reportedFields.some((field) => postbackParametersOf(settings, field).includes(parameter));
  const kept = pairs.filter(([parameter]) => !guard.isCredential(parameter));
  const withoutText = [...kinds].flatMap(([parameter, kind]) => (kind === 'number' ? [] : [[parameter, ''] as const]));
  const fitting = new Set(shortEnough([...kept, ...withoutText], kinds, isField));
  const parameters = kept.filter((pair) => fitting.has(pair));
  const fittingNames = new Set(Array.from(fitting, ([parameter]) => parameter));
  const keptKinds = [...kinds].filter(([parameter]) => fittingNames.has(parameter));
  const leftOut = kept.length - parameters.length;
  const damagedNames = parameters.map(([parameter]) => parameter).filter((parameter) => damaged.has(parameter));
  return {
    received_at: new Date(receivedAt).toISOString(),
    source: name,
    reason,
    parameters: parameters.map(([parameter, value]) => [redactor.redact(parameter), redactor.redact(value)]),
    ...(damagedNames.length > 0 && { damaged: damagedNames.map((parameter) => redactor.redact(parameter)) }),
    ...(keptKinds.length > 0 && { kinds: keptKinds.map(([parameter, kind]) => [redactor.redact(parameter), kind]) }),
    ...(leftOut > 0 && { left_out: leftOut }),
    ...(mistake !== undefined && { mistake }),
  };
}

/** Keeps as many as there is room for, the shortest first, in the order in which they came. */
function shortEnough(
  pairs: SentParameters['pairs'],
  kinds: SentParameters['kinds'],
  isNeeded: (name: string) => boolean,
): SentParameters['pairs'] {
  const sized = pairs.map((pair) => {
    const [name] = pair;
    const kind = kinds.get(name);
    const characters = JSON.stringify(kind === undefined ? pair : [pair, [name, kind]]).length;
    return { pair, characters, isNeeded: isNeeded(name) };
  });
  if (sized.reduce((sum, { characters }) => sum + characters, 0) <= maxCharacters) return pairs;
  const kept = new Set<(typeof pairs)[number]>();
  let room = maxCharacters;
  const order = sized.toSorted((a, b) => Number(b.isNeeded) - Number(a.isNeeded) || a.characters - b.characters);
  for (const { pair, characters, isNeeded: needed } of order) if ((room -= characters) >= 0 || needed) kept.add(pair);
  return pairs.filter((pair) => kept.has(pair));
}

/** The parameters of a report that was kept. */
export function keptParameters({
  parameters,
  mistake,
  damaged = [],
  kinds = [],
}: Pick<RefusedConversion, 'parameters' | 'mistake' | 'damaged' | 'kinds'>): SentParameters {
  return new SentParameters(parameters, mistake, new Map(damaged.map((name) => [name, ''])), new Map(kinds));
}

/** The file of a source and a day. */
interface KeptFile {
  readonly path: string;
  readonly day: Day;
  bytes: number;
  isFull: boolean;
  /** A kill or a full disk may have left a part of a line, which ends with the first newline after it. */
  newline: '' | '\n';
}

/**
 * Keeps refused reports in a file for each UTC day and source: 90 days, and 16 MiB of each at most. After a silence,
 * what is older goes on the second day. Keeping is a service to the operator: no answer waits for it or depends on it.
 */
export class RefusedConversions {
  readonly #folder: string;
  readonly #log: Logger;
  /** The newest by source. */
  readonly #files = new Map<string, KeptFile>();
  #waiting = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(data: DataDirectory, log: Logger) {
    this.#folder = data.refusedConversions;
    this.#log = log;
  }

  keep(refused: RefusedConversion): void {
    if (this.#waiting >= maxWaiting) return;
    this.#waiting++;
    this.#written = this.#written
      .then(() => this.#keep(refused))
      .catch((error: Error) => {
        this.#log.error(
          { source: refused.source, reason: error.message },
          `a refused conversion could not be kept in ${this.#folder}: \`offerline track replay\` cannot submit it again`,
        );
      })
      .finally(() => void this.#waiting--);
  }

  /** Resolves when all that is to be kept is written. */
  async settled(): Promise<void> {
    await this.#written;
  }

  async #keep(refused: RefusedConversion, isAgain = false): Promise<void> {
    const { source } = refused;
    const file = this.#fileOf(source, refused.received_at.slice(0, 10));
    const line = `${JSON.stringify(refused)}\n`;
    if (file.bytes + Buffer.byteLength(line) > maxBytesPerDay) {
      const { day } = file;
      if (!file.isFull)
        this.#log.warn({ source, day }, 'no more refused conversions of this day are kept: 16 MiB are full');
      file.isFull = true;
      return;
    }
    const begun = file.newline;
    file.newline = '\n';
    try {
      await appendFile(file.path, begun + line, { mode: 0o600 });
    } catch (error) {
      // Somebody has moved the folder since its file was begun.
      if (isAgain || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.#files.delete(source);
      return this.#keep(refused, true);
    }
    file.newline = '';
    file.bytes += Buffer.byteLength(line);
  }

  #fileOf(source: string, day: Day): KeptFile {
    let file = this.#files.get(source);
    if (file?.day !== day) this.#files.set(source, (file = this.#begin(source, day)));
    return file;
  }

  #begin(source: string, day: Day): KeptFile {
    makePrivateFolder(this.#folder);
    const files = keptFiles(this.#folder);
    // By the day before this one: a clock that is ahead for a moment must not take away what may still be replayed.
    const oldest = addDays(files.findLast((kept) => kept.day < day)?.day ?? day, -daysKept);
    for (const kept of files) if (kept.day < oldest) rmSync(kept.path, { force: true });
    const path = join(this.#folder, `${day}.${source}.ndjson`);
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return { path, day, bytes, isFull: false, newline: bytes > 0 ? '\n' : '' };
  }
}

/**
 * Reads what was kept from a day on, of each source in the order in which it came. A torn line, which a kill leaves, is
 * passed over and reported to `onBroken`.
 */
export async function* readRefused(
  data: DataDirectory,
  sinceDay: Day,
  onBroken: (path: string, line: number) => void,
): AsyncGenerator<RefusedConversion, void> {
  for (const { path } of keptFiles(data.refusedConversions).filter(({ day }) => day >= sinceDay)) {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      number++;
      if (line === '') continue;
      const parsed = refusedSchema.safeParse(jsonOf(line));
      if (parsed.success) yield parsed.data;
      else onBroken(path, number);
    }
  }
}

/** The first day of which anything may be kept now. */
export function firstKeptDay(now: number): Day {
  return addDays(dayOf(momentOfMilliseconds(now)), -daysKept);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function keptFiles(folder: string): { path: string; day: Day }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const day = /^(\d{4}-\d\d-\d\d)\..*\.ndjson$/.exec(name)?.[1];
      return day === undefined ? [] : [{ path: join(folder, name), day }];
    })
    .toSorted((one, other) => compareTexts(one.path, other.path));
}
