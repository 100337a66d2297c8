import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { addUser, type Role } from '../../../src/console/access/users.ts';
import { createConsole } from '../../../src/console/console.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { launcher } from '../../support/command-line.ts';

export interface Shown {
  status: number;
  /** As a browser gets it. */
  markup: string;
  /** Without tags, and blanks put together: what people read. */
  text: string;
  /** Where it leads instead; null where it is shown itself. */
  location: string | null;
  headers: Headers;
}

/** Somebody's way to a console. */
export type Look = (path: string, headers?: Record<string, string>) => Promise<Shown>;

export interface OpenConsole {
  /** Somebody new, with that role and name. */
  as(role: Role, name?: string): Promise<Look>;
  close(): Promise<void>;
}

/** A console over a data directory. Between two looks passes a second, so that nobody looks too often. */
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
  return {
    close: () => running.close(),
    async as(role, name = `a-${role}`) {
      const token = await addUser(data.consoleUsersFile, { name, role });
      const signedIn = await fetch(`${address}/sign-in`, {
        method: 'POST',
        headers: { origin: address },
        body: new URLSearchParams({ token }),
        redirect: 'manual',
      });
      const cookie = signedIn.headers.getSetCookie().map((each) => each.split(';')[0]);
      return async (path, own = {}) => {
        now += 1000;
        const sent = { ...own, cookie: cookie.join('; ') };
        const answer = await fetch(`${address}${path}`, { headers: sent, redirect: 'manual' });
        const { status, headers } = answer;
        const markup = await answer.text();
        return { status, markup, text: textOf(markup), location: headers.get('location'), headers };
      };
    },
  };
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
