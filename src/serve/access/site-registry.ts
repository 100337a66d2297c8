import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { readSites } from '../../sites/sites.ts';
import type { Site } from '../../sites/sites.ts';
import type { Query } from '../http/query.ts';
import { Refusal } from '../http/errors.ts';
import { isSecret, noSecret, padded } from './secrets.ts';
import type { PaddedSecret } from './secrets.ts';

interface KnownSite {
  site: Site;
  secret: PaddedSecret;
}

/** Secrets, status and limits of the sites as `sites.json` says now; a broken file leaves the last good content. */
export class LiveSites {
  readonly #file: string;
  readonly #log: Logger;
  #sites: ReadonlyMap<string, KnownSite> = new Map();
  #version = '';

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** Reads the file for the first time. Throws `UsageError` where it cannot be used: there is no last good content yet. */
  async start(): Promise<void> {
    this.#version = await versionOf(this.#file);
    this.#read();
  }

  /** Reads the file again if it has changed. */
  async poll(): Promise<void> {
    const version = await versionOf(this.#file);
    if (version === this.#version) return;
    this.#version = version;
    if (version === missing) {
      this.#log.error({ file: this.#file }, 'sites.json is gone; the sites known so far stay until it is back');
      return;
    }
    try {
      this.#read();
    } catch (error) {
      this.#log.error(
        { file: this.#file, reason: (error as Error).message },
        'sites.json cannot be used; the sites known so far stay until it is mended',
      );
    }
  }

  /**
   * The site that key and secret of a query belong to. Throws `Refusal`, which is the same for an unknown key
   * and a wrong secret.
   */
  identify(query: Query): Site {
    const { site_key: key, site_secret: secret } = query;
    if (key === undefined || secret === undefined) {
      throw new Refusal('missing_credentials', `${key === undefined ? 'site_key' : 'site_secret'} is missing`);
    }
    const known = typeof key === 'string' ? this.#sites.get(key) : undefined;
    // Compared with nothing where the key is unknown, so that the time taken does not tell which keys exist.
    const same = isSecret(typeof secret === 'string' ? secret : '', known?.secret ?? noSecret);
    if (!same || known === undefined || typeof secret !== 'string') {
      throw new Refusal('unknown_credentials', 'no site has this site_key and site_secret');
    }
    return known.site;
  }

  /**
   * The site of Variant A that a query's key names. Sites of other variants are not opened by a key alone.
   * Throws `Refusal`.
   */
  identifyByKey({ site_key: key }: Query): Site {
    const known = typeof key === 'string' ? this.#sites.get(key) : undefined;
    if (known?.site.variant !== 'A') throw new Refusal('unknown_credentials', 'no site has this site_key');
    return known.site;
  }

  #read(): void {
    const { sites, warnings } = readSites(this.#file);
    this.#sites = new Map(sites.map((site) => [site.site_key, { site, secret: padded(site.site_secret) }]));
    for (const warning of warnings) this.#log.warn(warning);
    this.#log.info({ sites: sites.length }, 'sites.json read');
  }
}

const missing = 'missing';

/** Another text whenever the file is another or was written to. */
async function versionOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return missing;
  }
}
