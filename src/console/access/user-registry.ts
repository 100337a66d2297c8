import type { Logger } from 'pino';
import { FollowedFile } from '../../kit/files/followed-file.ts';
import { digestOf, readUsers, type StoredUser } from './users.ts';

/** The users as `console/users.json` says now; a broken file leaves the last good content. */
export class UserRegistry {
  readonly #file: string;
  readonly #log: Logger;
  readonly #followed: FollowedFile;
  #byName: ReadonlyMap<string, StoredUser> = new Map();
  #byDigest: ReadonlyMap<string, StoredUser> = new Map();

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
    // Whoever wants nobody let in says so by an empty list: a file that went missing was hardly meant to say it.
    this.#followed = new FollowedFile(file, log, () => this.#read(), {
      gone: 'the console’s users are gone; those known so far stay until they are back',
      broken: 'the console’s users cannot be read; those known so far stay until the file is mended',
    });
  }

  get size(): number {
    return this.#byName.size;
  }

  /**
   * Reads the file for the first time. Throws `UsageError` where it cannot be used: there is no last good content yet.
   */
  start(): Promise<void> {
    return this.#followed.start();
  }

  /** Reads the file again if it has changed. */
  poll(): Promise<void> {
    return this.#followed.poll();
  }

  named(name: string): StoredUser | undefined {
    return this.#byName.get(name);
  }

  /** Whose token this is. Looked up by its digest, so the time it takes tells nothing of the tokens there are. */
  withToken(token: string): StoredUser | undefined {
    return this.#byDigest.get(digestOf(token));
  }

  #read(): void {
    const users = readUsers(this.#file);
    this.#byName = new Map(users.map((user) => [user.name, user]));
    this.#byDigest = new Map(users.map((user) => [user.token_sha256, user]));
    this.#log.info({ users: users.length }, 'the console’s users read');
  }
}
