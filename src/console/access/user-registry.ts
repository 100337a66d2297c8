import type { Logger } from 'pino';
import { FollowedFile } from '../../kit/files/followed-file.ts';
import { secretDigest, readUsers, type StoredUser } from './users.ts';

/** The users of `console/users.json`, followed; a broken file leaves the last good content. */
export class UserRegistry {
  readonly #file: string;
  readonly #log: Logger;
  readonly #followed: FollowedFile;
  #byName: ReadonlyMap<string, StoredUser> = new Map();
  #byDigest: ReadonlyMap<string, StoredUser> = new Map();

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
    // An empty list locks everybody out; a missing file is hardly meant to.
    this.#followed = new FollowedFile(file, log, () => this.#read(), {
      gone: 'console/users.json is gone; keeping the last users until it is back',
      broken: 'console/users.json cannot be read; keeping the last users until it is repaired',
    });
  }

  get size(): number {
    return this.#byName.size;
  }

  /**
   * Reads the file for the first time. Throws `UsageError` where it is broken, since there is no last good content yet.
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

  /** Returns the user of a token. The look-up is by digest, so its duration reveals nothing about tokens. */
  withToken(token: string): StoredUser | undefined {
    return this.#byDigest.get(secretDigest(token));
  }

  #read(): void {
    const users = readUsers(this.#file);
    this.#byName = new Map(users.map((user) => [user.name, user]));
    this.#byDigest = new Map(users.map((user) => [user.token_sha256, user]));
    this.#log.info({ users: users.length }, 'read the users of the console');
  }
}
