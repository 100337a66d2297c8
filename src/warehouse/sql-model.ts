import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A SQL file of `sql/`: one query, opened by a comment that says what it is. */
export interface SqlModel {
  /** The file's name without its ending. */
  name: string;
  /** First sentences of the comment. */
  purpose: string;
  /** "one row per …" */
  grain: string;
  /** Meaning of each column, where the header lists them: they become the published table's comments. */
  columns: Record<string, string>;
  /** Further lines of the header, such as `unit: USD`, by what stands before the colon. */
  facts: Record<string, string>;
  query: string;
}

export type ModelFolder = 'staging' | 'marts' | 'audits' | 'metrics' | 'macros';

export const sqlFolder = fileURLToPath(new URL('../../sql', import.meta.url));

/** The models' files do not change while a process runs. */
const known = new Map<string, SqlModel>();

/** Reads `sql/<folder>/<name>.sql`. Throws when its header lacks the grain. */
export function readModel(folder: ModelFolder, name: string): SqlModel {
  const path = `${sqlFolder}/${folder}/${name}.sql`;
  const model = known.get(path) ?? parseModel(name, readFileSync(path, 'utf8'));
  known.set(path, model);
  return model;
}

export function parseModel(name: string, text: string): SqlModel {
  const header: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('--')) break;
    header.push(line.replace(/^-- ?/, ''));
  }
  const grainAt = header.findIndex((line) => line.startsWith('grain: '));
  if (grainAt < 0) throw new Error(`sql model ${name} has no "grain:" in its header`);
  const columns: Record<string, string> = {};
  for (const line of header) {
    const column = /^ {2}(\w+): (.+)$/.exec(line);
    if (column) columns[column[1] as string] = column[2] as string;
  }
  const facts = header
    .slice(grainAt + 1)
    .flatMap((line) =>
      [...line.matchAll(/^(\w[\w ]*): (.+)$/g)].map(([, fact = '', value = '']) => [fact, value] as const),
    );
  return {
    name,
    purpose: header.slice(0, grainAt).join(' '),
    grain: (header[grainAt] as string).slice('grain: '.length),
    columns,
    facts: Object.fromEntries(facts),
    query: text.split('\n').slice(header.length).join('\n').trim(),
  };
}
