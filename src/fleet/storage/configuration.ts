import { createHash, randomBytes, scrypt } from 'node:crypto';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { readSettings } from '../../kit/config/settings.ts';
import { readSites } from '../../kit/sites/sites.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { noteConfiguration } from '../../pipeline/runs/configuration-note.ts';
import { compareTexts } from '../../kit/text/compare-texts.ts';

/** Digests of what decides figures, rewards and feeds, by file. */
export const configurationSchema = z.object({ salt: z.string(), files: z.record(z.string(), z.string()) });
export type ConfigurationDigest = z.output<typeof configurationSchema>;

/** Content of each file as all machines of a network should have it; undefined where it is missing. */
const contents: Record<string, (data: DataDirectory) => unknown> = {
  'sites.json': ({ sitesFile }) => readSites(sitesFile).sites,
  'sources.json': ({ sourcesFile }) => withoutReferences(JSON.parse(readTextFile(sourcesFile))),
  // All else is of the machine: addresses, ports, plans, engines.
  'offerline.json': (data) => {
    const { sources, logs, files, rates, retention, hide_capped_offers } = readSettings(data);
    // Left out where it is off, as an earlier version does always.
    return withoutReferences({
      sources,
      logs,
      files,
      rates,
      retention,
      ...(hide_capped_offers && { hide_capped_offers }),
    });
  },
};
export const comparedFiles = Object.keys(contents);

const derive = promisify<string, string, number, Buffer>(scrypt);
const digestBytes = 24;
/** A run that takes over compares and publishes the same files, and a derivation is slow on purpose: some 50 ms. */
const derivations = new LRUCache<string, string>({ max: 32 });

/**
 * Digests the files of this machine. `sites.json` has secrets, and others may read the digest: scrypt with a random
 * salt makes each guess of a secret as dear as one of a password. With the same salt equal files have equal digests.
 */
export async function digestConfiguration(
  data: DataDirectory,
  salt: string = randomBytes(16).toString('base64url'),
  names: readonly string[] = comparedFiles,
): Promise<ConfigurationDigest> {
  const digests = names.map(
    async (name) => [name, await digestOf(canonicalText(data, name), `${salt} ${name}`)] as const,
  );
  return { salt, files: Object.fromEntries(await Promise.all(digests)) };
}

async function digestOf(text: string, salt: string): Promise<string> {
  const key = createHash('sha256').update(`${salt} ${text}`).digest('hex');
  const known = derivations.get(key);
  if (known !== undefined) return known;
  const digest = (await derive(text, salt, digestBytes)).toString('base64url');
  derivations.set(key, digest);
  return digest;
}

/** Compares this machine's files with a digest; reads them only where one has changed since the last call. */
export class ConfigurationComparison {
  readonly #data: DataDirectory;
  readonly #names: readonly string[];
  #key: string | undefined;
  #differing: string[] = [];

  constructor(data: DataDirectory, names: readonly string[] = comparedFiles) {
    this.#data = data;
    this.#names = names;
  }

  /** Returns the names of files that differ; none where an earlier version published without digests. */
  async differing(published: ConfigurationDigest | undefined): Promise<string[]> {
    if (published === undefined) return [];
    const key = JSON.stringify([published, this.#names.map((name) => versionOf(this.#data, name))]);
    if (key === this.#key) return this.#differing;
    const { files } = await digestConfiguration(this.#data, published.salt, this.#names);
    this.#differing = this.#names.filter((name) => published.files[name] !== files[name]);
    this.#key = key;
    return this.#differing;
  }

  /** Notes for `status` which files differ from those of the machine that published a run to this storage. */
  async note(
    { effects, logger }: { effects: Effects; logger: Logger },
    url: string,
    { configuration, run_id }: { configuration?: ConfigurationDigest | undefined; run_id: number },
  ): Promise<void> {
    const files = await this.differing(configuration);
    await noteConfiguration({ data: this.#data, effects, logger }, { url, files, run_id });
  }
}

function pathOf(data: DataDirectory, name: string): string {
  if (name === 'sites.json') return data.sitesFile;
  return name === 'sources.json' ? data.sourcesFile : data.settingsFile;
}

function versionOf(data: DataDirectory, name: string): string | null {
  const about = statSync(pathOf(data, name), { bigint: true, throwIfNoEntry: false });
  return about === undefined ? null : `${about.ino} ${about.mtimeNs} ${about.size}`;
}

/** A file that cannot be used has the digest of its bytes: its own error is reported elsewhere. */
function canonicalText(data: DataDirectory, name: string): string {
  try {
    return JSON.stringify(sorted(contents[name]?.(data)));
  } catch {
    try {
      return createHash('sha256')
        .update(readTextFile(pathOf(data, name)))
        .digest('hex');
    } catch {
      return '';
    }
  }
}

/** Where a secret is kept is each machine's own business. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const isReference = entries.length === 1 && ['env', 'file'].includes(entries[0]?.[0] ?? '');
  return isReference ? 'secret' : Object.fromEntries(entries.map(([key, each]) => [key, withoutReferences(each)]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => compareTexts(a, b))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
