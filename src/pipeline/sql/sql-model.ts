import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../../kit/files/package-files.ts';

/** A SQL file of `sql/`: one query below a comment that describes it. */
export interface SqlModel {
  /** The file's name without its ending. */
  name: string;
  /** First sentences of the comment. */
  purpose: string;
  /** "one row per …" */
  grain: string;
  /** `key:` Columns that identify a row. Empty for a single row, and where the header has none. */
  key: string[];
  /** `fills:` Temporary tables that a run fills with its rows. */
  fills: string[];
  /** Meaning of each column that the header lists; published as comments. */
  columns: Record<string, string>;
  /**
   * Columns that may be NULL: listed ones with `?` after their name, or those of a line `nullable:`, where `as in
   * offers` means those of that mart. Undefined where the header has neither.
   */
  nullable: ReadonlySet<string> | undefined;
  /** Further lines of the header, such as `unit: USD`, by the word before the colon. */
  facts: Record<string, string>;
  query: string;
}

export const modelFolders = ['staging', 'marts', 'audits', 'metrics', 'macros', 'console'] as const;
export type ModelFolder = (typeof modelFolders)[number];

/** A SQL file of `sql/functions`: one expression over its parameters, which models call by its name. */
export interface SqlFunction {
  name: string;
  purpose: string;
  parameters: string[];
  expression: string;
}

const sqlFolder = packageFile('sql');

/** The files of `sql/` do not change while a process runs. */
const models = new Map<string, SqlModel>();
let functions: Map<string, SqlFunction> | undefined;

/** Returns the names of a folder's models, sorted. */
export function modelNames(folder: ModelFolder | 'functions'): string[] {
  return readdirSync(`${sqlFolder}/${folder}`)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted();
}

/** Reads `sql/<folder>/<name>.sql`. Throws where its header lacks the grain. */
export function readModel(folder: ModelFolder, name: string): SqlModel {
  const path = `${sqlFolder}/${folder}/${name}.sql`;
  let model = models.get(path);
  if (model === undefined)
    models.set(path, (model = withOthersColumns(folder, parseModel(name, readFileSync(path, 'utf8')))));
  return model;
}

/** Fills in the columns whose meaning the header gives as that in another model of the folder. */
function withOthersColumns(folder: ModelFolder, model: SqlModel): SqlModel {
  const columns: SqlModel['columns'] = {};
  const nullable = new Set(model.nullable);
  for (const [column, meaning] of Object.entries(model.columns)) {
    const [, name] = /^as in (\w+)$/.exec(meaning) ?? [];
    const other = name === undefined ? undefined : readModel(folder, name);
    const known = other === undefined ? meaning : other.columns[column];
    if (known === undefined) throw new Error(`sql model ${model.name}: ${name} has no column ${column} to be as in`);
    columns[column] = known;
    if (other?.nullable?.has(column) === true) nullable.add(column);
  }
  return { ...model, columns, nullable: model.nullable && nullable };
}

/** Returns all functions of `sql/functions`, by name. */
export function readFunctions(): Map<string, SqlFunction> {
  return (functions ??= new Map(
    modelNames('functions').map((name) => [
      name,
      parseFunction(name, readFileSync(`${sqlFolder}/functions/${name}.sql`, 'utf8')),
    ]),
  ));
}

export function parseModel(name: string, text: string): SqlModel {
  const { purpose, header, code } = parseFile(text);
  const facts = Object.fromEntries(
    header.flatMap((line) =>
      [...line.matchAll(/^(\w[\w ]*): (.+)$/g)].map(([, fact = '', value = '']) => [fact, value]),
    ),
  );
  const { grain } = facts;
  if (grain === undefined) throw new Error(`sql model ${name} has no "grain:" in its header`);
  const columns: Record<string, string> = {};
  const nullable = new Set(listOf(facts['nullable']));
  for (const line of header) {
    const [, names, meaning] = /^ {2}(\w+\??(?:, \w+)*): (.+)$/.exec(line) ?? [];
    if (names === undefined || meaning === undefined) continue;
    for (const column of names.replace('?', '').split(', ')) columns[column] = meaning;
    if (names.endsWith('?')) nullable.add(names.slice(0, -1));
  }
  return {
    name,
    purpose,
    grain,
    key: listOf(facts['key']),
    fills: listOf(facts['fills']),
    columns,
    nullable: facts['nullable'] === undefined && Object.keys(columns).length === 0 ? undefined : nullable,
    facts,
    query: code,
  };
}

function parseFunction(name: string, text: string): SqlFunction {
  const { purpose, header, code } = parseFile(text);
  const parameters = /^parameters: (.+)$/.exec(header[0] ?? '')?.[1];
  if (parameters === undefined) throw new Error(`sql function ${name} has no "parameters:" in its header`);
  return { name, purpose, parameters: listOf(parameters), expression: code };
}

/** Returns the comment up to the first `word:` line, the lines from there on, and the code below the comment. */
function parseFile(text: string): { purpose: string; header: string[]; code: string } {
  const lines = text.split('\n');
  const codeAt = lines.findIndex((line) => !line.startsWith('--'));
  const comment = lines.slice(0, codeAt).map((line) => line.replace(/^-- ?/, ''));
  const headerAt = comment.findIndex((line) => /^(grain|parameters): /.test(line));
  return {
    purpose: comment.slice(0, headerAt < 0 ? comment.length : headerAt).join(' '),
    header: headerAt < 0 ? [] : comment.slice(headerAt),
    code: lines.slice(codeAt).join('\n').trim(),
  };
}

/** Splits `a, b`; `none` means an empty list. */
function listOf(text: string | undefined): string[] {
  return text === undefined || text === 'none' ? [] : text.split(', ');
}
