import { chownSync, existsSync, realpathSync, statSync } from 'node:fs';
import { readDocument } from '../config/json-document.ts';
import { readTextFile } from '../config/regular-file.ts';
import { exitCode, OfferlineError, UsageError } from '../errors/errors.ts';
import { rewriteFile, type FileEffects } from '../files/effects.ts';
import { acquireProcessLock } from '../files/process-lock.ts';
import { nearestWord } from '../text/nearest-word.ts';
import { readSites, sitesSchema } from './sites.ts';

/** A site as the file has it, with keys that nobody here knows the order of. */
export type WrittenSite = { site_key: string } & Record<string, unknown>;

/** Seconds to wait for another edit, which takes far less. */
const waitSeconds = 10;

/**
 * Changes the list of sites in the file, and leaves everything else of it unchanged; edits at the same time come one
 * after the other. Throws `UsageError` where the file is broken, or would be afterwards, `OfferlineError` where
 * somebody has changed it by hand meanwhile, or another edit does not end; it is as before then.
 */
export async function editSites<Result>(
  file: string,
  edit: (sites: WrittenSite[]) => Result,
  files: FileEffects,
  { dryRun = false } = {},
): Promise<Result> {
  // Of the file itself, so that those who come by a link and those who do not wait for each other.
  const lockFile = `${existsSync(file) ? realpathSync(file) : file}.lock`;
  const lock = dryRun
    ? undefined
    : await acquireProcessLock(
        { name: 'list of sites', lockFile, busy: (message) => new OfferlineError(message, exitCode.busy) },
        { command: 'sites', waitSeconds, onWaiting: () => undefined },
      );
  try {
    readSites(file);
    const isNew = !existsSync(file);
    const text = isNew ? '{"sites":[]}' : readTextFile(file);
    const document = JSON.parse(text) as { sites: WrittenSite[] };
    const result = edit(document.sites);
    const edited = `${JSON.stringify(document, null, 1)}\n`;
    readDocument(sitesSchema, edited, `${file} as it would be`, '; nothing was changed');
    if (dryRun) return result;
    if (existsSync(file) === isNew || (!isNew && readTextFile(file) !== text))
      throw new OfferlineError(`${file} was changed by somebody else meanwhile; look at it, and try again`);
    await rewriteFile(file, edited, 'sites', files, 0o600);
    leaveToOwner(lockFile, file);
    return result;
  } finally {
    lock?.release();
  }
}

/** Lets the owner of the file take the lock, too, where root made it. */
function leaveToOwner(lockFile: string, file: string): void {
  const { uid, gid } = statSync(file);
  if (process.getuid?.() === 0) chownSync(lockFile, uid, gid);
}

/** Returns the site of a key. Throws `UsageError`, with the key that is meant perhaps. */
export function writtenSite(sites: readonly WrittenSite[], siteKey: string): WrittenSite {
  const site = sites.find(({ site_key }) => site_key === siteKey);
  if (site !== undefined) return site;
  const nearest = nearestWord(
    siteKey,
    sites.map(({ site_key }) => site_key),
  );
  const hint = nearest === undefined ? '`offerline sites list` lists them' : `did you mean ${nearest}?`;
  throw new UsageError(`sites.json has no site ${JSON.stringify(siteKey)}; ${hint}`);
}
