import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../config/data-directory.ts';
import { readSettings } from '../config/settings.ts';
import { OfferlineError } from '../errors/errors.ts';
import { isShared, openStore } from '../postbacks/open-store.ts';
import { trouble, type Finding } from './finding.ts';

/** The store of deliveries: whether the file is whole, or whether PostgreSQL answers and holds a store of ours. */
export async function examineDeliveries(data: DataDirectory, deep: boolean): Promise<Finding[]> {
  const settings = readSettings(data);
  if (!isShared(settings)) return examineFile(data, deep);
  try {
    const store = await openStore(data, settings);
    await store.close();
    return [];
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    return [
      trouble(
        'deliveries',
        'postbacks.store',
        error.message,
        'put that right; the next refresh hands over what waits in the outbox',
        { repairable: false },
      ),
    ];
  }
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
  }
  if (problem === 'ok') return [];
  return [
    trouble(
      'deliveries',
      data.deliveriesFile,
      problem,
      'it is put aside with its -wal and -shm; the next refresh makes a new one from the outbox and from what the warehouse knows to be delivered',
    ),
  ];
}
