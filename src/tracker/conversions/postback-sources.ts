import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { Redactor } from '../../kit/config/secrets.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { readSettings } from '../../kit/config/settings.ts';
import { ReadFailures, isTransient, versionToReadAgain } from '../../kit/files/read-failures.ts';
import { fileVersion } from '../../kit/files/file-version.ts';
import { secretFiles, type PostbackSettings } from '../../sources/config/postback-settings.ts';
import { readSources } from '../../sources/config/sources-file.ts';
import { SourceGuard } from './guard/source-guard.ts';
import { reportReading, type ReportReading } from './report/reported-conversion.ts';

/** A source that reports conversions, with its settings read. */
export interface ReportingSource {
  name: string;
  settings: PostbackSettings;
  guard: SourceGuard;
  redactor: Redactor;
  reading: ReportReading;
  /** USD for one unit of a currency, as decimal text. */
  rates: Readonly<Record<string, string>>;
}

/**
 * Follows the sources that report conversions: `sources.json`, the files of secrets that it names, and the rates of
 * `offerline.json`. A broken file leaves the last good ones.
 */
export class PostbackSources {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  #sources: ReadonlyMap<string, ReportingSource>;
  readonly #failures = new ReadFailures();
  #version = '';
  /** Files that the newest `sources.json` names, whether or not it could be used. */
  #secretFiles: readonly string[] = [];

  private constructor(data: DataDirectory, log: Logger) {
    this.#data = data;
    this.#log = log;
    this.#sources = this.#read();
  }

  /** Throws `UsageError` where a file or a secret cannot be used: there is no last good content yet. */
  static async open(data: DataDirectory, log: Logger): Promise<PostbackSources> {
    // Versions of before the reading: a file that changes meanwhile is read again.
    const before = await Promise.all([data.sourcesFile, data.settingsFile].map(fileVersion));
    const sources = new PostbackSources(data, log);
    const secrets = await Promise.all(sources.#secretFiles.map(fileVersion));
    sources.#version = [...before, ...secrets].join(', ');
    return sources;
  }

  find(name: string): ReportingSource | undefined {
    return this.#sources.get(name);
  }

  /** Reads the files again where one has changed. */
  async poll(): Promise<void> {
    const versions = await this.#versions();
    const version = versions.join(', ');
    if (version === this.#version) return;
    this.#version = version;
    try {
      if (this.#sources.size > 0 && versions[0] === undefined)
        throw new UsageError(`${this.#data.sourcesFile} is gone`);
      this.#sources = this.#read();
      this.#failures.end();
    } catch (error) {
      if (isTransient(error)) this.#version = versionToReadAgain;
      if (!this.#failures.shouldReport(error)) return;
      this.#log.error(
        { reason: (error as Error).message },
        'sources.json or offerline.json cannot be used; keeping the last good settings until it is mended',
      );
    }
  }

  /** Versions of `sources.json`, `offerline.json` and the files of secrets; undefined for a missing file. */
  #versions(): Promise<(string | undefined)[]> {
    const { sourcesFile, settingsFile } = this.#data;
    return Promise.all([sourcesFile, settingsFile, ...this.#secretFiles].map(fileVersion));
  }

  #read(): ReadonlyMap<string, ReportingSource> {
    const { rates } = readSettings(this.#data);
    const { sources, warnings } = readSources(this.#data);
    this.#secretFiles = sources.flatMap(({ postback }) => (postback === undefined ? [] : secretFiles(postback)));
    const reporting = sources.flatMap((entry): ReportingSource[] => {
      const { source: name, postback: settings } = entry;
      if (settings === undefined) return [];
      const guard = new SourceGuard(name, settings);
      const reading = reportReading(settings, entry);
      return [{ name, settings, guard, redactor: new Redactor(guard.secrets), reading, rates }];
    });
    // Not before all can be used: what cannot is read again and again.
    for (const warning of [...warnings, ...reporting.flatMap(({ guard }) => guard.warnings)]) this.#log.warn(warning);
    this.#log.info({ sources: reporting.length }, 'sources that report conversions read');
    return new Map(reporting.map((source) => [source.name, source]));
  }
}
