import { z } from 'zod';
import { UsageError } from '../errors/errors.ts';
import { readTextFile } from './regular-file.ts';

/** A secret in a configuration: the text itself, or a reference to it. */
export const secretSchema = z
  .union(
    [
      z.string().min(1),
      z.strictObject({ env: z.string().min(1) }).readonly(),
      z.strictObject({ file: z.string().min(1) }).readonly(),
    ],
    { error: 'is a text, {"env": "NAME"} or {"file": "/path"}' },
  )
  .meta({ takes: 'secret' });
export type Secret = z.output<typeof secretSchema>;

/**
 * Reads the secret's text. Throws `UsageError` with the place, never with a part of the secret. `name`: its place in
 * the configuration, such as `north.secrets.api_key`.
 */
export function readSecret(name: string, secret: Secret, environment: NodeJS.ProcessEnv = process.env): string {
  if (typeof secret === 'string') return secret;
  if ('env' in secret) {
    const text = environment[secret.env]?.trim();
    if (!text) throw new UsageError(`${name}: the environment has no ${secret.env}`);
    return text;
  }
  let text: string;
  try {
    text = readTextFile(secret.file).trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${name}: ${secret.file} cannot be read: ${code ?? message}`, { cause: error });
  }
  if (text === '') throw new UsageError(`${name}: ${secret.file} is empty`);
  return text;
}

/** Reads the secrets that can be read; those who need another one report the error. */
export function readableSecrets(secrets: readonly (Secret | undefined)[]): string[] {
  return secrets.flatMap((secret) => {
    if (secret === undefined) return [];
    try {
      return [readSecret('', secret)];
    } catch (error) {
      if (error instanceof UsageError) return [];
      throw error;
    }
  });
}

/** Shorter secrets occur in too many texts by accident to be removed from all of them. */
const minRedacted = 4;
const redacted = '•••';

/** Removes secrets from texts in every spelling: plain, percent-encoded, in JSON, or as base64. */
export class Redactor {
  /** Spellings by their first characters, the longest first: a shorter one within it would leave its ends. */
  readonly #forms = new Map<string, string[]>();
  /** Digests of first characters, so that the cost of a search does not depend on the number of secrets. */
  readonly #begins = new Uint8Array(1 << 16);
  #longest = 0;

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) this.add(secret);
  }

  /** Adds a secret that became known later, such as a token. */
  add(secret: string): void {
    if (secret.length < minRedacted) return;
    for (const form of formsOf(secret)) {
      const begin = form.slice(0, minRedacted);
      const forms = this.#forms.get(begin) ?? [];
      if (forms.includes(form)) continue;
      const shorter = forms.findIndex(({ length }) => length < form.length);
      forms.splice(shorter === -1 ? forms.length : shorter, 0, form);
      this.#forms.set(begin, forms);
      this.#begins[digestAt(form, 0)] = 1;
      this.#longest = Math.max(this.#longest, form.length);
    }
  }

  /** `isCut`: the text is the first part of a longer one, and may end within a secret. */
  redact(text: string, { isCut = false } = {}): string {
    let shown = '';
    let end = 0;
    for (let at = 0; at + minRedacted <= text.length; at++) {
      if (this.#begins[digestAt(text, at)] === 0) continue;
      const form = this.#formAt(text, at, isCut);
      if (form === undefined) continue;
      if (at >= end) shown += text.slice(end, at) + redacted;
      end = Math.max(end, at + form.length);
    }
    return end === 0 ? text : shown + text.slice(end);
  }

  #formAt(text: string, at: number, isCut: boolean): string | undefined {
    const forms = this.#forms.get(text.slice(at, at + minRedacted));
    const whole = forms?.find((form) => text.startsWith(form, at));
    if (whole !== undefined || !isCut || at + this.#longest <= text.length) return whole;
    return forms?.find((form) => form.startsWith(text.slice(at)));
  }
}

/** Digest of the characters at a position. */
function digestAt(text: string, at: number): number {
  let digest = 0;
  for (let next = at; next < at + minRedacted; next++) digest = (digest * 31 + text.charCodeAt(next)) & 0xffff;
  return digest;
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const base64 = Buffer.from(secret).toString('base64');
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    encoded,
    encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    json,
    // Escapes of Python, PHP and Go.
    ...[/[^ -~]/g, /[&<>]/g, /[^ -~]|[&<>]/g].map((units) => json.replaceAll(units, escaped)),
    ...[/[^ -~]/g, /[&<>]/g, /(?!)/g].map((units) => json.replaceAll('/', '\\/').replaceAll(units, escaped)),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}
