import type { Logger } from 'pino';
import { ReadFailures, isTransient, versionToReadAgain } from './read-failures.ts';
import { fileVersion } from './file-version.ts';

/** A file of configuration that is read again when it changes; a broken one leaves what was read last. */
export class FollowedFile {
  readonly #file: string;
  readonly #log: Logger;
  readonly #read: () => void;
  readonly #words: { gone: string; broken: string };
  readonly #failures = new ReadFailures();
  #version: string | undefined;

  /** `read` takes the file over, or throws and changes nothing. `words`: what is logged where that is not possible. */
  constructor(file: string, log: Logger, read: () => void, words: { gone: string; broken: string }) {
    this.#file = file;
    this.#log = log;
    this.#read = read;
    this.#words = words;
  }

  /** Reads the file for the first time. Throws what `read` throws: there is no last good content yet. */
  async start(): Promise<void> {
    this.#version = await fileVersion(this.#file);
    this.#read();
  }

  /** Reads the file again if it has changed. */
  async poll(): Promise<void> {
    const version = await fileVersion(this.#file);
    if (version === this.#version) return;
    this.#version = version;
    if (version === undefined) {
      this.#log.error({ file: this.#file }, this.#words.gone);
      return;
    }
    try {
      this.#read();
      this.#failures.end();
    } catch (error) {
      if (isTransient(error)) this.#version = versionToReadAgain;
      if (!this.#failures.shouldReport(error)) return;
      this.#log.error({ file: this.#file, reason: (error as Error).message }, this.#words.broken);
    }
  }
}
