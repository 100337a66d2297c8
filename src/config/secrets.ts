import { z } from 'zod';
import { UsageError } from '../errors/errors.ts';
import { readTextFile } from './regular-file.ts';

/** A secret in a configuration: the text itself, or where it is kept. */
export const secretSchema = z.union(
  [
    z.string().min(1),
    z.strictObject({ env: z.string().min(1) }).readonly(),
    z.strictObject({ file: z.string().min(1) }).readonly(),
  ],
  { error: 'is a text, {"env": "NAME"} or {"file": "/path"}' },
);
export type Secret = z.output<typeof secretSchema>;

/**
 * The secret's text. Throws `UsageError` saying where it was looked for, never with a part of it. `name`: where it is
 * configured, such as `north.secrets.api_key`.
 */
export function readSecret(name: string, secret: Secret, environment: NodeJS.ProcessEnv = process.env): string {
  if (typeof secret === 'string') return secret;
  if ('env' in secret) {
    const text = environment[secret.env];
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

/** A secret of fewer characters stands in too many texts by accident to be taken out of all of them. */
const shortestRedacted = 4;
const redacted = '•••';

/** Takes secrets out of texts, however they are written there: plain, percent-encoded, or as base64. */
export class Redactor {
  #forms: readonly string[] = [];

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) this.add(secret);
  }

  /** One that became known later, such as a token. */
  add(secret: string): void {
    if (secret.length < shortestRedacted) return;
    const forms = [...this.#forms, ...formsOf(secret)];
    // The longest first: a shorter one within it would leave its ends.
    this.#forms = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  }

  redact(text: string): string {
    return this.#forms.reduce((rest, form) => rest.replaceAll(form, redacted), text);
  }
}

function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encoded,
    encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}
