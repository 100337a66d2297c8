import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { readSites } from '../../kit/sites/sites.ts';
import { trouble, type Finding } from './finding.ts';

/** Reads `sites.json` as a run and the service do. */
export function examineSites({ sitesFile }: DataDirectory): Finding[] {
  try {
    readSites(sitesFile);
    return [];
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    const advice = 'put it right: until then no refresh begins, and the service goes on with the sites that it knows';
    return [trouble('sites', sitesFile, error.message.replace(`${sitesFile} `, ''), advice, { repairable: false })];
  }
}
