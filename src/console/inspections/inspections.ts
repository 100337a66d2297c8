import { join } from 'node:path';
import type { Multipart } from '@fastify/multipart';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode } from '../../kit/errors/errors.ts';
import { landingKinds } from '../../kit/vocabulary/values.ts';
import type { Inspection } from '../../pipeline/inspect/inspection.ts';
import type { ActionJobsOptions } from '../actions/jobs.ts';
import { askCommand, type CommandAnswer, type Launcher } from '../actions/command-process.ts';
import { ConsoleError } from '../page/page.ts';
import { maxUploadBytes, tooLarge, Uploads, type Upload } from './uploads.ts';

/** Files that are received or read at once; each takes a process. */
const maxAtOnce = 2;
/** Megabytes that an upload may unpack to. */
export const maxUnpackedMegabytes = 200;
const readMilliseconds = 60_000;
/** Bytes of a form besides its file. */
const formBytes = 64 * 1024;

/** Bounds for the parser of a form: beyond them it stops with an error of its own. */
export const formLimits = {
  fileSize: maxUploadBytes,
  files: 1,
  fields: 10,
  fieldSize: 500,
  fieldNameSize: 100,
  headerPairs: 20,
} as const;

/** Characters between cells, by the names that the form has for them. */
export const delimiters = { comma: ',', semicolon: ';', tab: '\t', bar: '|' } as const;

/** The choices of a form, which is shown again with them; empty where the file says it itself. */
export interface InspectionChoices {
  as: string;
  delimiter: string;
  encoding: string;
  header: string;
  sheet: string;
  records: string;
}

export const noChoices: InspectionChoices = { as: '', delimiter: '', encoding: '', header: '', sheet: '', records: '' };

export interface InspectedUpload {
  /** Name of the file on the machine of the sender. */
  name: string;
  choices: InspectionChoices;
  inspection: Inspection;
}

/**
 * Reads uploaded files by `offerline inspect`, each in a process of its own: it may take all of a processor, or end by
 * force, and no page waits for it. Nothing of a file is kept.
 */
export class FileInspections {
  readonly #uploads: Uploads;
  readonly #launcher: Launcher;
  readonly #stop = new AbortController();
  /** Files that are received or read. */
  readonly #open = new Set<Promise<unknown>>();

  private constructor(uploads: Uploads, launcher: Launcher) {
    this.#uploads = uploads;
    this.#launcher = launcher;
  }

  /** Removes what a killed console left behind. */
  static async open(data: DataDirectory, launcher: ActionJobsOptions['launcher']): Promise<FileInspections> {
    const environment = { ...launcher.environment, OFFERLINE_DATA: data.root };
    return new FileInspections(await Uploads.open(join(data.console, 'uploads')), { ...launcher, environment });
  }

  /**
   * Receives a form and reads its file. Throws `ConsoleError` where a limit is reached, a choice is wrong, or the
   * reading fails, and the errors of a form that breaks off.
   *
   * @param bytes Length of the form; undefined where the sender does not say it.
   * @param gone Aborted once nobody waits for the answer; the reading ends.
   */
  async inspect(
    { parts, bytes }: { parts: () => AsyncIterable<Multipart>; bytes: number | undefined },
    gone: AbortSignal,
  ): Promise<InspectedUpload> {
    if (this.#stop.signal.aborted) throw stopping();
    if ((bytes ?? 0) > maxUploadBytes + formBytes) throw tooLarge();
    if (this.#open.size >= maxAtOnce)
      throw new ConsoleError(503, `${maxAtOnce} files are read just now, which is the limit: try again in a moment.`);
    const inspecting = this.#uploads.use(parts(), (upload, folder) => this.#read(upload, folder, gone));
    this.#open.add(inspecting);
    try {
      return await inspecting;
    } finally {
      this.#open.delete(inspecting);
    }
  }

  /** Reads no more files, ends what it reads, and waits until the files are removed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#open);
  }

  async #read({ path, name, fields }: Upload, folder: string, gone: AbortSignal): Promise<InspectedUpload> {
    const choices = choicesOf(fields);
    const launcher = { ...this.#launcher, environment: { ...this.#launcher.environment, TMPDIR: folder } };
    const stop = AbortSignal.any([gone, this.#stop.signal]);
    if (stop.aborted) throw stopping();
    const ended = await askCommand(launcher, wordsOf(path, choices), { stop, milliseconds: readMilliseconds });
    if (stop.aborted) throw stopping();
    return { name, choices, inspection: inspectionOf(ended, (text) => text.replaceAll(path, name)) };
  }
}

function stopping(): ConsoleError {
  return new ConsoleError(503, 'The console is stopping: it reads no more files.');
}

function choicesOf(fields: ReadonlyMap<string, string>): InspectionChoices {
  const choices = { ...noChoices };
  for (const name of Object.keys(noChoices) as (keyof InspectionChoices)[])
    choices[name] = fields.get(name)?.trim() ?? '';
  const kinds: readonly string[] = landingKinds;
  if (choices.as !== '' && !kinds.includes(choices.as))
    throw new ConsoleError(422, `There is no kind "${choices.as}": choose ${landingKinds.join(', ')}, or none.`);
  if (choices.delimiter !== '' && !Object.hasOwn(delimiters, choices.delimiter))
    throw new ConsoleError(422, `There is no delimiter "${choices.delimiter}": choose one of the list, or none.`);
  if (!/^\d{0,4}$/.test(choices.header))
    throw new ConsoleError(422, `The header is in row "${choices.header}": give the number of the row, or nothing.`);
  return choices;
}

/** Each option and its value in one word, so that no value is read as an option. */
function wordsOf(path: string, { delimiter, ...choices }: InspectionChoices): string[] {
  const character = Object.hasOwn(delimiters, delimiter) ? delimiters[delimiter as keyof typeof delimiters] : '';
  const options = Object.entries({ ...choices, delimiter: character }).flatMap(([name, value]) =>
    value === '' ? [] : [`--${name}=${value}`],
  );
  return ['inspect', '--json', `--max-unpacked=${maxUnpackedMegabytes}`, ...options, '--', path];
}

/**
 * A file that cannot be read, or that lacks a field, makes the command fail with its answer.
 *
 * @param named Names the file in a text as its sender does.
 */
function inspectionOf({ code, answer, error, isTooLong }: CommandAnswer, named: (text: string) => string): Inspection {
  if (isTooLong)
    throw new ConsoleError(
      503,
      `Reading the file took longer than ${readMilliseconds / 1000} s. On the machine of offerline \`offerline inspect FILE\` has no such limit.`,
    );
  if (code === exitCode.done || (code === exitCode.failed && answer !== '')) {
    const { problem, ...inspection } = JSON.parse(answer) as Inspection;
    return { ...inspection, problem: problem && { ...problem, detail: named(problem.detail) } };
  }
  const reason = named(error ?? 'the process was ended by force, perhaps for want of memory');
  throw new ConsoleError(code === exitCode.usage ? 422 : 503, `The file could not be read: ${reason}`);
}
