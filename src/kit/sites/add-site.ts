import { describeIssue } from '../config/describe-issue.ts';
import { describeProblems } from '../config/json-document.ts';
import { UsageError } from '../errors/errors.ts';
import { realEffects, type FileEffects } from '../files/effects.ts';
import { editSites } from './edit-sites.ts';
import { newSecret } from './rotate-secret.ts';
import { siteSchema, type Site } from './sites.ts';

/**
 * Adds a site with a new secret to `sites.json` and leaves the rest of the file unchanged. Returns the secret, which is
 * shown nowhere else. Throws `UsageError` where the key is taken, the site is unusable, or the file is broken.
 */
export async function addSite(
  file: string,
  site: Pick<Site, 'site_key'> & Partial<Site>,
  files: FileEffects = realEffects.files,
): Promise<string> {
  const site_secret = newSecret();
  await editSites(
    file,
    (sites) => {
      if (sites.some(({ site_key }) => site_key === site.site_key))
        throw new UsageError(`there is a site ${site.site_key} already; choose another key`);
      const checked = siteSchema.safeParse({ ...site, site_secret }, { error: describeIssue });
      if (!checked.success) throw new UsageError(`the site cannot be added:\n${describeProblems(checked.error)}`);
      sites.push({ ...site, site_secret });
    },
    files,
  );
  return site_secret;
}
