import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { describeIssue } from '../../kit/config/describe-issue.ts';
import { describeProblems } from '../../kit/config/json-document.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import type { Secret } from '../../kit/config/secrets.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { editAlone } from '../../kit/files/edit-lock.ts';
import { makePrivateFolder, realEffects, replaceFile, rewriteFile, type FileEffects } from '../../kit/files/effects.ts';
import { readSources, sourcesSchema, type SourceEntry } from './sources-file.ts';

/** A secret that is not written yet: a reference, the text itself, or a text that gets a file of its own. */
export type DraftSecret = Secret | { kept: string };

/** An entry of `sources.json` that is not written yet. */
export interface SourceDraft {
  source: string;
  connector: string;
  secrets: Readonly<Record<string, DraftSecret>>;
  /** Further keys of the entry, such as `base_url`. */
  [key: string]: unknown;
}

/** Something that a draft lacks or has wrong. */
export interface DraftMistake {
  path: readonly PropertyKey[];
  message: string;
}

/**
 * Reads a draft as `sources.json` would be read with it; its texts to be kept count as secrets. Throws `UsageError`
 * where the file cannot be used, or has a source of that name.
 */
export function readDraft(
  data: DataDirectory,
  draft: SourceDraft,
): { entry: SourceEntry } | { mistakes: DraftMistake[] } {
  assertFreeName(data, draft.source);
  const secrets = Object.fromEntries(
    Object.entries(draft.secrets).map(([name, secret]) => [name, isKept(secret) ? secret.kept : secret]),
  );
  const parsed = sourcesSchema.safeParse({ sources: [{ ...draft, secrets }] }, { error: describeIssue });
  if (parsed.success) return { entry: parsed.data.sources[0] as SourceEntry };
  const ofEntry = ['sources', '0'].length;
  return { mistakes: parsed.error.issues.map(({ path, message }) => ({ path: path.slice(ofEntry), message })) };
}

/** Throws `UsageError` where `sources.json` has a source of that name already, or cannot be used. */
export function assertFreeName(data: DataDirectory, name: string): void {
  if (readSources(data).sources.some(({ source }) => source === name))
    throw new UsageError(`${data.sourcesFile} has a source ${name} already: choose another name by --source`);
}

/**
 * Adds a source to `sources.json` and leaves every other byte of it as it is; a new file is for its owner alone. Texts
 * to be kept go into files of mode 0600 first, so that the entry never names one that is not there. Returns the files
 * of secrets. Throws `UsageError` where the name is taken, or the file would be unusable.
 */
export function addSource(
  data: DataDirectory,
  draft: SourceDraft,
  files: FileEffects = realEffects.files,
): Promise<string[]> {
  const named = { name: 'list of sources', command: 'sources new' };
  return editAlone(data.sourcesFile, named, () => addAlone(data, draft, files));
}

async function addAlone(data: DataDirectory, draft: SourceDraft, files: FileEffects): Promise<string[]> {
  assertFreeName(data, draft.source);
  const kept = Object.entries(draft.secrets).flatMap(([name, secret]) =>
    isKept(secret) ? [{ name, text: secret.kept, file: data.secretFile(draft.source, name) }] : [],
  );
  const references = Object.fromEntries(kept.map(({ name, file }) => [name, { file }]));
  const entry = { ...draft, secrets: { ...draft.secrets, ...references } };
  const file = data.sourcesFile;
  const isNew = !existsSync(file);
  const text = withEntry(isNew ? '{\n  "sources": []\n}\n' : readTextFile(file), entry);
  const parsed = sourcesSchema.safeParse(JSON.parse(text), { error: describeIssue });
  if (!parsed.success)
    throw new UsageError(`${file} stays as it is, the source cannot be added:\n${describeProblems(parsed.error)}`);
  for (const { text: secret, file: secretFile } of kept) {
    makePrivateFolder(dirname(secretFile));
    await replaceFile(secretFile, `${secret}\n`, 'secret', files, privateFile);
  }
  await rewriteFile(file, text, 'sources', files, privateFile);
  return kept.map(({ file: secretFile }) => secretFile);
}

const privateFile = 0o600;

/** Drafts come from files too, where a secret may be anything. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isKept(secret: DraftSecret): secret is { kept: string } {
  return isObject(secret) && 'kept' in secret;
}

/**
 * Puts an entry behind the last one of a valid `sources.json`, in its indentation. The document has one list and
 * nothing behind it, so the last bracket of the text is the end of that list.
 */
function withEntry(text: string, entry: object): string {
  const end = text.lastIndexOf(']');
  const before = text.slice(0, end).trimEnd();
  const separator = before.endsWith('[') ? '' : ',';
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const outer = /\n([ \t]*)"sources"/.exec(text)?.[1];
  if (outer === undefined) return `${before}${separator}${JSON.stringify(entry)}${text.slice(before.length)}`;
  const unit = outer === '' ? '  ' : outer;
  const first = /"sources"\s*:\s*\[\s*\n([ \t]*)\S/.exec(text)?.[1];
  const indent = separator === '' || first === undefined ? outer + unit : first;
  const lines = JSON.stringify(entry, null, unit)
    .split('\n')
    .map((line) => indent + line);
  const after = text.slice(before.length, end).includes('\n')
    ? text.slice(before.length)
    : newline + outer + text.slice(end);
  return `${before}${separator}${newline}${lines.join(newline)}${after}`;
}
