import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { addUser, type Role } from '../../../src/console/access/users.ts';
import { createConsole } from '../../../src/console/console.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { launcher } from '../../support/command-line.ts';

export interface Shown {
  status: number;
  /** The body that a browser gets. */
  markup: string;
  /** The text without tags, with single blanks. */
  text: string;
  /** The target of a redirect; null for other answers. */
  location: string | null;
  headers: Headers;
}

/** Requests a page as one user. */
export type Look = (path: string, headers?: Record<string, string>) => Promise<Shown>;

export interface OpenConsole {
  /** Such as `http://127.0.0.1:40123`. */
  address: string;
  /** Adds a user and signs in; returns the cookie. */
  signIn(role: Role, name?: string): Promise<string>;
  /** Adds a user and signs in. */
  as(role: Role, name?: string): Promise<Look>;
  /** Moves the clock on, so that no rate limit is reached. */
  pass(milliseconds: number): void;
  /** Reads users and snapshots now, as it does each second. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

/** A console over a data directory. Its clock goes on by a second per request, so that no rate limit is reached. */
export async function consoleOver(data: DataDirectory): Promise<OpenConsole> {
  let now = Date.now();
  const running = await createConsole({
    data,
    settings: readSettings(data),
    log: createLogger({ write: () => true }, 'silent'),
    launcher,
    now: () => now,
    repeat: () => () => undefined,
  });
  const address = await running.listen({ host: '127.0.0.1', port: 0 });
  const signIn: OpenConsole['signIn'] = async (role, name = `a-${role}`) => {
    const token = await addUser(data.consoleUsersFile, { name, role });
    const signedIn = await fetch(`${address}/sign-in`, {
      method: 'POST',
      headers: { origin: address },
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    });
    return signedIn.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
  };
  return {
    address,
    signIn,
    pass: (milliseconds) => void (now += milliseconds),
    poll: () => running.poll(),
    close: () => running.close(),
    async as(role, name) {
      const cookie = await signIn(role, name);
      return async (path, own = {}) => {
        now += 1000;
        return shownOf(await fetch(`${address}${path}`, { headers: { ...own, cookie }, redirect: 'manual' }));
      };
    },
  };
}

/** An answer with its body. */
export async function shownOf(answer: Response): Promise<Shown> {
  const { status, headers } = answer;
  const markup = await answer.text();
  return { status, markup, text: textOf(markup), location: headers.get('location'), headers };
}

function textOf(markup: string): string {
  const main = /<main[^>]*>(.*)<\/main>/s.exec(markup)?.[1] ?? markup;
  return main
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ');
}
