import { z } from 'zod';
import { UsageError } from '../errors/errors.ts';
import { percentDecoded } from '../text/percent-encoded.ts';
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

/**
 * Removes secrets from texts in every spelling: plain, percent-encoded by any of the rules, in JSON, or as base64.
 * Texts are searched as they are and decoded: programs differ in what they encode, and a list of spellings has gaps.
 */
export class Redactor {
  /** Forms by their first characters, the longest first: a shorter one within it would leave its ends. */
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
    const spans = this.#spansIn(text, isCut);
    if (/[%\\]/.test(text)) {
      const { decoded, places } = decode(text, isCut);
      for (const { from, to } of this.#spansIn(decoded, isCut))
        spans.push({ from: places[from] ?? 0, to: places[to] ?? text.length });
      spans.sort((one, other) => one.from - other.from);
    }
    let shown = '';
    let end = 0;
    for (const { from, to } of spans) {
      if (from >= end) shown += text.slice(end, from) + redacted;
      end = Math.max(end, to);
    }
    return end === 0 ? text : shown + text.slice(end);
  }

  #spansIn(text: string, isCut: boolean): Span[] {
    const searched = withBlanks(text);
    const spans: Span[] = [];
    for (let at = 0; at + minRedacted <= searched.length; at++) {
      if (this.#begins[digestAt(searched, at)] === 0) continue;
      const form = this.#formAt(searched, at, isCut);
      if (form !== undefined) spans.push({ from: at, to: Math.min(at + form.length, searched.length) });
    }
    return spans;
  }

  #formAt(text: string, at: number, isCut: boolean): string | undefined {
    const forms = this.#forms.get(text.slice(at, at + minRedacted));
    const whole = forms?.find((form) => text.startsWith(form, at));
    if (whole !== undefined || !isCut || at + this.#longest <= text.length) return whole;
    return forms?.find((form) => form.startsWith(text.slice(at)));
  }
}

/** Part of a text: its first character, and the one after its last. */
interface Span {
  from: number;
  to: number;
}

/** Digest of the characters at a position. */
function digestAt(text: string, at: number): number {
  let digest = 0;
  for (let next = at; next < at + minRedacted; next++) digest = (digest * 31 + text.charCodeAt(next)) & 0xffff;
  return digest;
}

/** Secret and base64, as they are searched for in texts as they are and in decoded ones. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  // What is percent-encoded has no half of a surrogate pair.
  return [secret, secret.toWellFormed(), base64, base64.replace(/=+$/, ''), bytes.toString('base64url')].map(
    withBlanks,
  );
}

/** Forms write a blank as `+`: the two count as one character. */
function withBlanks(text: string): string {
  return text.replaceAll('+', ' ');
}

/** A character: its UTF-8 in percent-codes, or an escape of JSON. */
const codes = /%[0-7][\da-fA-F]|%[c-fC-F][\da-fA-F](?:%[89abAB][\da-fA-F]){1,3}|\\u[\da-fA-F]{4}|\\["\\/bfnrt]/g;

/** The last code of a text that is cut, where it may be a part of one. */
const lastCode = /(?:%[c-fC-F][\da-fA-F](?:%[89abAB][\da-fA-F]){0,2})?(?:%[\da-fA-F]?)?$|\\(?:u[\da-fA-F]{0,3})?$/;

/** Decodes a text. `places`: where each of the decoded characters, and the end, is in the text as it was. */
function decode(text: string, isCut: boolean): { decoded: string; places: Uint32Array } {
  const places = new Uint32Array(text.length + 1);
  const whole = isCut ? text.replace(lastCode, '') : text;
  let decoded = '';
  let end = 0;
  const copyTo = (to: number) => {
    for (let at = end; at < to; at++) places[decoded.length + at - end] = at;
    decoded += whole.slice(end, to);
  };
  for (const { 0: code, index } of whole.matchAll(codes)) {
    copyTo(index);
    const characters = code.startsWith('%') ? (percentDecoded(code) ?? code) : (JSON.parse(`"${code}"`) as string);
    places.fill(index, decoded.length, decoded.length + characters.length);
    decoded += characters;
    end = index + code.length;
  }
  copyTo(whole.length);
  places[decoded.length] = text.length;
  return { decoded, places };
}
