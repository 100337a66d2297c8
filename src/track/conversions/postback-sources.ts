import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../config/data-directory.ts';
import { Redactor } from '../../config/secrets.ts';
import { UsageError } from '../../errors/errors.ts';
import { readSettings } from '../../config/settings.ts';
import type { PostbackSettings } from '../../sources/config/postback-settings.ts';
import { readSources } from '../../sources/config/sources-file.ts';
import { SourceGuard } from './guard/source-guard.ts';
import type { ReportReading } from './report/reported-conversion.ts';

/** A source that reports conversions, ready to be heard. */
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
 * The sources that report conversions, as `sources.json` says now, and the rates of `offerline.json`. What is broken
 * leaves the last good.
 */
export class PostbackSources {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  #sources: ReadonlyMap<string, ReportingSource>;
  #version = '';

  private constructor(data: DataDirectory, log: Logger) {
    this.#data = data;
    this.#log = log;
    this.#sources = this.#read();
  }

  /** Throws `UsageError` where a file or a secret cannot be used: there is no last good content yet. */
  static async open(data: DataDirectory, log: Logger): Promise<PostbackSources> {
    const version = await versionOf(data);
    const sources = new PostbackSources(data, log);
    sources.#version = version;
    return sources;
  }

  find(name: string): ReportingSource | undefined {
    return this.#sources.get(name);
  }

  /** Reads the files again where one has changed. */
  async poll(): Promise<void> {
    const version = await versionOf(this.#data);
    if (version === this.#version) return;
    this.#version = version;
    try {
      if (this.#sources.size > 0 && version.startsWith(missing))
        throw new UsageError(`${this.#data.sourcesFile} is gone`);
      this.#sources = this.#read();
    } catch (error) {
      this.#log.error(
        { reason: (error as Error).message },
        'sources.json or offerline.json cannot be used; sources report as they did until it is mended',
      );
    }
  }

  #read(): ReadonlyMap<string, ReportingSource> {
    const { rates } = readSettings(this.#data);
    const { sources, warnings } = readSources(this.#data);
    for (const warning of warnings) this.#log.warn(warning);
    const reporting = sources.flatMap(
      ({ source: name, postback: settings, currency, time_zone }): ReportingSource[] => {
        if (settings === undefined) return [];
        const guard = new SourceGuard(name, settings);
        for (const warning of guard.warnings) this.#log.warn(warning);
        const reading = { settings, currency: currency ?? 'USD', timeZone: time_zone };
        return [{ name, settings, guard, redactor: new Redactor(guard.secrets), reading, rates }];
      },
    );
    this.#log.info({ sources: reporting.length }, 'sources that report conversions read');
    return new Map(reporting.map((source) => [source.name, source]));
  }
}

const missing = 'missing';

/** Another text whenever one of the files is another or was written to. */
async function versionOf({ sourcesFile, settingsFile }: DataDirectory): Promise<string> {
  const versions = [sourcesFile, settingsFile].map(async (file) => {
    try {
      const { dev, ino, size, mtimeNs } = await stat(file, { bigint: true });
      return `${dev} ${ino} ${size} ${mtimeNs}`;
    } catch {
      return missing;
    }
  });
  return (await Promise.all(versions)).join(', ');
}
