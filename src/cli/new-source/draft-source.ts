import { resolve } from 'node:path';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readDocument } from '../../kit/config/json-document.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { assertFreeName, readDraft, type DraftSecret, type SourceDraft } from '../../sources/config/add-source.ts';
import { knownNetworks, secretsNamedBy, type KnownNetwork } from '../../sources/config/known-networks.ts';
import type { SourceEntry } from '../../sources/config/sources-file.ts';
import { choose, type Prompts } from '../prompts.ts';

/** What options say of a new source. */
export interface DraftOptions {
  connector?: string;
  source?: string;
  baseUrl?: string;
  secret: Readonly<Record<string, DraftSecret>>;
  currency?: string;
  timeZone?: string;
  with?: string;
  yes?: boolean;
  force?: boolean;
}

/** A source that can be tried and written. */
export interface ReadyDraft {
  draft: SourceDraft;
  entry: SourceEntry;
}

/** Options by the keys of an entry that they say, and by what they confirm. */
const optionOfKey: Readonly<Record<string, string>> = {
  connector: '--connector <name>',
  source: '--source <name>',
  base_url: '--base-url <address>',
  currency: '--currency <code>',
  time_zone: '--time-zone <zone>',
  yes: '--yes',
};

/**
 * Makes a source of what options say, and of answers to what they leave out. Throws `UsageError` that names the option
 * where nobody can be asked.
 */
export async function draftSource(
  data: DataDirectory,
  options: DraftOptions,
  prompts: Prompts | undefined,
): Promise<ReadyDraft> {
  const more = options.with === undefined ? {} : keysIn(options.with);
  const given: Record<string, unknown> = {
    ...more,
    ...namedOptions(options),
    secrets: { ...objectOf(more['secrets']), ...options.secret },
  };
  const [named, source] = [textOf(given['connector']), textOf(given['source'])];
  if (prompts === undefined) assertComplete({ connector: named, source, yes: options.yes ?? options.force });
  const network = networkOf(named ?? (await askNetwork(prompts as Prompts)));
  const name = source ?? (await askName(data, prompts as Prompts, network.name));
  assertFreeName(data, name);
  const draft = { source: name, connector: network.name, ...given } as SourceDraft;
  return completeDraft(data, draft, network, prompts);
}

/** Throws `UsageError` that names the options that nobody can be asked for. */
function assertComplete(said: Readonly<Record<string, unknown>>): void {
  const absent = Object.keys(said).filter((key) => said[key] === undefined);
  if (absent.length > 0)
    throw new UsageError(`say ${absent.map((key) => optionOfKey[key]).join(' and ')}: no terminal is there to ask at`);
}

/** What options say, by the keys of an entry. */
function namedOptions({ connector, source, baseUrl, currency, timeZone }: DraftOptions): Record<string, unknown> {
  const keys = { source, connector, base_url: baseUrl, currency, time_zone: timeZone };
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function objectOf(value: unknown): Record<string, DraftSecret> {
  return typeof value === 'object' && value !== null ? (value as Record<string, DraftSecret>) : {};
}

/** Returns the draft with another value of a key, asked for again where it is none. */
export function withValue(
  data: DataDirectory,
  draft: SourceDraft,
  values: Readonly<Record<string, string>>,
  prompts: Prompts | undefined,
): Promise<ReadyDraft> {
  return completeDraft(data, { ...draft, ...values }, networkOf(draft.connector), prompts);
}

/** Asks for what `sources.json` would be refused for, until it would not be. */
async function completeDraft(
  data: DataDirectory,
  given: SourceDraft,
  network: KnownNetwork,
  prompts: Prompts | undefined,
): Promise<ReadyDraft> {
  let draft = given;
  for (;;) {
    const read = readDraft(data, draft);
    const lacking = 'entry' in read ? secretsNamedBy(read.entry) : [];
    const names = lacking.filter((name) => draft.secrets[name] === undefined);
    const mistakes =
      'entry' in read ? names.map((name) => ({ path: ['secrets', name], message: 'is missing' })) : read.mistakes;
    if ('entry' in read && mistakes.length === 0) {
      assertKnownSecrets(draft, network, lacking);
      return { draft, entry: read.entry };
    }
    if (prompts === undefined)
      throw new UsageError(
        `the source cannot be added:\n${mistakes.map(({ path, message }) => `  ${optionFor(path)}: ${path.join('.')} ${message}`).join('\n')}`,
      );
    const [first] = mistakes;
    if (first === undefined) throw new UsageError(`${network.name}: the source cannot be added`);
    draft = await corrected(draft, first, network, prompts);
  }
}

async function corrected(
  draft: SourceDraft,
  { path, message }: { path: readonly PropertyKey[]; message: string },
  { secretHints }: KnownNetwork,
  prompts: Prompts,
): Promise<SourceDraft> {
  const [key = '', name = ''] = path.map(String);
  if (draft[key] !== undefined && key !== 'secrets') prompts.show(`${path.join('.')} ${message}`);
  switch (key) {
    case 'secrets': {
      const secret = await askSecret(prompts, name, secretHints[name]);
      return { ...draft, secrets: { ...draft.secrets, [name]: secret } };
    }
    case 'source':
      return { ...draft, source: await prompts.ask('Name of the source') };
    case 'base_url':
      return { ...draft, base_url: await prompts.ask('Address of its API, such as https://api.example.com') };
    case 'currency':
      return { ...draft, currency: await prompts.ask('Currency of its amounts, such as USD') };
    case 'time_zone':
      return { ...draft, time_zone: await prompts.ask('Zone of its times, such as America/New_York') };
    default: {
      const file = await prompts.ask(`File with further keys of the source as JSON (${path.join('.')} ${message})`);
      return { ...draft, ...keysIn(file) };
    }
  }
}

function optionFor([key, name]: readonly PropertyKey[]): string {
  if (key === 'secrets') return `--secret ${String(name ?? 'NAME')}=env:VAR or =file:PATH`;
  return optionOfKey[String(key)] ?? '--with <file>';
}

function networkOf(name: string): KnownNetwork {
  const network = knownNetworks().find((known) => known.name === name);
  if (network !== undefined) return network;
  const names = knownNetworks().map(({ name: known }) => known);
  throw new UsageError(`--connector ${name}: there is none of this name, but ${names.join(', ')}`);
}

async function askNetwork(prompts: Prompts): Promise<string> {
  return choose(prompts, 'Which network', knownNetworks());
}

async function askName(data: DataDirectory, prompts: Prompts, connector: string): Promise<string> {
  for (;;) {
    const name = await prompts.ask('Name of the source, also of its folder', connector);
    try {
      assertFreeName(data, name);
      return name;
    } catch (error) {
      if (!(error instanceof UsageError) || name === '') throw error;
      prompts.show(error.message);
    }
  }
}

/** Asks where a secret is; the text itself is typed unseen. */
async function askSecret(prompts: Prompts, name: string, hint: string | undefined): Promise<DraftSecret> {
  if (hint !== undefined) prompts.show(`${name}: ${hint}`);
  for (;;) {
    const answer = await prompts.ask(`Where is ${name}? env:NAME, file:PATH, or Enter to type it`);
    const reference = referenceIn(answer);
    if (reference !== undefined) return reference;
    if (answer !== '') {
      prompts.show('write env:NAME or file:PATH, or press Enter alone: the secret itself is typed unseen');
      continue;
    }
    const typed = await prompts.askHidden(name);
    if (typed !== '') return { kept: typed };
  }
}

function referenceIn(text: string): DraftSecret | undefined {
  const [, kind, where = ''] = /^(env|file):(.+)$/.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return kind === 'env' ? { env: where } : { file: resolve(where) };
}

/** Adds a secret as `--secret` says it. Throws `UsageError` without repeating the text, which may be the secret. */
export function addSecret(
  text: string,
  before: Readonly<Record<string, DraftSecret>> = {},
): Readonly<Record<string, DraftSecret>> {
  const [, name, where = ''] = /^(\w+)=(.+)$/s.exec(text) ?? [];
  const secret = where.startsWith('text:') && where !== 'text:' ? where.slice('text:'.length) : referenceIn(where);
  if (name === undefined || secret === undefined)
    throw new UsageError(
      '--secret takes NAME=env:VARIABLE or NAME=file:PATH; NAME=text:SECRET writes the secret itself into sources.json',
    );
  return { ...before, [name]: secret };
}

/** A misspelled name would be written, and the secret that is meant would be missing. */
function assertKnownSecrets({ secrets }: SourceDraft, { name, secrets: taken }: KnownNetwork, named: string[]): void {
  const all = [...new Set([...taken, ...named])];
  const unknown = Object.keys(secrets).find((secret) => !all.includes(secret));
  if (unknown !== undefined && all.length > 0)
    throw new UsageError(`--secret ${unknown}: ${name} takes ${all.join(', ')}`);
}

const keysOfSource = z.record(z.string(), z.unknown(), {
  error: 'is no JSON object with keys of a source, such as {"offers": {…}}',
});

/** Reads further keys of an entry from a file. */
function keysIn(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    throw new UsageError(`--with ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return readDocument(keysOfSource, text, `--with ${file}`);
}
