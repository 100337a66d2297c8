import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { describeIssue } from '../config/describe-issue.ts';
import { describeProblems } from '../config/json-document.ts';
import { readTextFile } from '../config/regular-file.ts';
import { realEffects, replaceFile, type FileEffects } from '../files/effects.ts';
import { UsageError } from '../errors/errors.ts';
import { readSites, siteSchema, type Site } from './sites.ts';

/** Random bytes of a secret: the size of the signature's digest, since a longer key adds nothing. */
const secretBytes = 32;

/**
 * Adds a site with a new secret to `sites.json` and leaves the rest of the file unchanged. Returns the secret, which is
 * shown nowhere else. Throws `UsageError` where the key is taken, the site is unusable, or the file is broken.
 */
export async function addSite(
  file: string,
  site: Pick<Site, 'site_key'> & Partial<Site>,
  files: FileEffects = realEffects.files,
): Promise<string> {
  if (readSites(file).sites.some(({ site_key }) => site_key === site.site_key)) {
    throw new UsageError(`there is a site ${site.site_key} already; choose another key`);
  }
  const site_secret = randomBytes(secretBytes).toString('hex');
  const checked = siteSchema.safeParse({ ...site, site_secret }, { error: describeIssue });
  if (!checked.success) throw new UsageError(`the site cannot be added:\n${describeProblems(checked.error)}`);
  const isNew = !existsSync(file);
  const document = isNew ? { sites: [] } : (JSON.parse(readTextFile(file)) as { sites: unknown[] });
  document.sites.push({ ...site, site_secret });
  // The new file takes the old one's place, so it must not be open to more readers than that was.
  const mode = isNew ? 0o600 : statSync(file).mode & 0o777;
  await replaceFile(file, `${JSON.stringify(document, null, 1)}\n`, 'sites', files, mode);
  return site_secret;
}
