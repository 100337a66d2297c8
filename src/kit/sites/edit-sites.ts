import { existsSync } from 'node:fs';
import { readDocument } from '../config/json-document.ts';
import { readTextFile } from '../config/regular-file.ts';
import { OfferlineError, UsageError } from '../errors/errors.ts';
import { editAlone } from '../files/edit-lock.ts';
import { rewriteFile, type FileEffects } from '../files/effects.ts';
import { nearestWord } from '../text/nearest-word.ts';
import { readSites, sitesSchema } from './sites.ts';

/** A site as the file has it, with keys that nobody here knows the order of. */
export type WrittenSite = { site_key: string } & Record<string, unknown>;

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
  const change = async () => {
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
    return result;
  };
  return dryRun ? change() : editAlone(file, { name: 'list of sites', command: 'sites' }, change);
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
