import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readSettings } from '../../kit/config/settings.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { isSqliteUnwritable } from '../../kit/sqlite/open-sqlite.ts';
import { shellWord } from '../../kit/text/shell-word.ts';
import { hasStore, isShared, openStore } from '../../postbacks/open-store.ts';
import { allowedSilence, describeSilence, readSilentSites, type SilentSite } from '../../postbacks/silent-sites.ts';
import { note, trouble, type Finding } from './finding.ts';

/**
 * Examines the delivery store: damage of the file, or a PostgreSQL that does not answer or has no store of ours, and
 * sites that accept nothing. `now` in milliseconds since the epoch.
 */
export async function examineDeliveries(data: DataDirectory, deep: boolean, now: number): Promise<Finding[]> {
  const settings = readSettings(data);
  if (!isShared(settings)) {
    const damage = examineFile(data, deep);
    if (damage.length > 0 || !hasStore(data, settings)) return damage;
  }
  try {
    const store = await openStore(data, settings);
    try {
      return silences(await readSilentSites(store, now), allowedSilence(settings));
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    return [
      trouble(
        'deliveries',
        isShared(settings) ? 'postbacks.store' : data.deliveriesFile,
        error.message,
        'put that right; the next refresh hands over what waits in the outbox',
        { repairable: false },
      ),
    ];
  }
}

/** Returns trouble for sites that are silent for more minutes than allowed, else notes. */
function silences(sites: readonly SilentSite[], allowed: number): Finding[] {
  return sites.map((site) => {
    const key = shellWord(site.site_key);
    const about = [
      'deliveries',
      `site ${site.site_key}`,
      describeSilence(site),
      `see what \`offerline postbacks test ${key}\` says; once its receiver is mended, \`offerline postbacks retry --pending --site ${key}\` makes them due`,
    ] as const;
    return site.silent_seconds > allowed * 60 ? trouble(...about, { repairable: false }) : note(...about);
  });
}

/** Put aside, a whole store would have its postbacks sent again. */
function unopened({ deliveriesFile }: DataDirectory, problem: string): Finding {
  return trouble(
    'deliveries',
    deliveriesFile,
    `was not looked at: ${problem}`,
    'make its folder writable, with some room on its disk, and look again',
    { repairable: false },
  );
}

function examineFile(data: DataDirectory, deep: boolean): Finding[] {
  if (!existsSync(data.deliveriesFile)) return [];
  let problem: string;
  try {
    const store = new DatabaseSync(data.deliveriesFile, { readOnly: true });
    try {
      problem = String(
        Object.values(store.prepare(deep ? 'PRAGMA integrity_check(1)' : 'PRAGMA quick_check(1)').get() ?? {})[0],
      );
    } finally {
      store.close();
    }
  } catch (error) {
    problem = (error as Error).message;
    if (isSqliteUnwritable(error)) return [unopened(data, problem)];
  }
  if (problem === 'ok') return [];
  return [
    trouble(
      'deliveries',
      data.deliveriesFile,
      problem,
      'it is moved to put-aside/ with its -wal and -shm; the next refresh makes a new one from the outbox and from the deliveries that the warehouse knows',
    ),
  ];
}
