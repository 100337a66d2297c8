import { withParameters, type QueryParameters } from '../../kit/duckdb/sql-parameters.ts';
import { modelNames, readFunctions, readModel, type ModelFolder, type SqlFunction } from './sql-model.ts';

/** Expanded queries without parameters; the files of `sql/` do not change while a process runs. */
const written = new Map<string, string>();

/**
 * Returns a model's query as DuckDB runs it: staging models become `WITH`, calls of `sql/functions` their expressions,
 * parameters literals. So a published query is complete, and a model needs nothing in a database but the tables that it
 * reads. Without `parameters` the names of parameters stay.
 */
export function modelQuery(folder: ModelFolder, name: string, parameters?: QueryParameters): string {
  const path = `${folder}/${name}`;
  const query = written.get(path) ?? withFunctions(withStaging(folder, name));
  written.set(path, query);
  return parameters === undefined ? query : withParameters(query, parameters);
}

function withStaging(folder: ModelFolder, name: string): string {
  const { query } = readModel(folder, name);
  const staging = stagingBehind(folder, name);
  if (staging.length === 0) return query;
  const definitions = staging
    .map((each) => `${each} AS (\n  ${readModel('staging', each).query.replaceAll('\n', '\n  ')}\n)`)
    .join(',\n');
  return query.startsWith('WITH ')
    ? `WITH ${definitions},\n${query.slice('WITH '.length)}`
    : `WITH ${definitions}\n${query}`;
}

/** Returns the staging models that a model names, each after those that it names itself. */
export function stagingBehind(folder: ModelFolder, name: string): string[] {
  const words = new Set(readModel(folder, name).query.match(/\w+/g));
  const direct = modelNames('staging').filter((each) => words.has(each));
  return [...new Set(direct.flatMap((each) => [...stagingBehind('staging', each), each]))];
}

/**
 * Replaces calls of the functions of `sql/functions` by their expressions, also nested ones; not in comments and texts.
 */
export function withFunctions(query: string, functions: Map<string, SqlFunction> = readFunctions()): string {
  const call = new RegExp(`'(?:[^']|'')*'|--[^\\n]*|\\b(${[...functions.keys()].join('|')})\\(`, 'g');
  let result = '';
  let copied = 0;
  for (let found = call.exec(query); found !== null; found = call.exec(query)) {
    const called = functions.get(found[1] ?? '');
    if (called === undefined) continue;
    const { list, end } = argumentsFrom(query, call.lastIndex);
    if (list.length !== called.parameters.length)
      throw new Error(`${called.name}() takes ${called.parameters.join(', ')}, but it is given ${list.join(', ')}`);
    result += query.slice(copied, found.index) + withFunctions(writtenOut(called, list), functions);
    copied = end;
    call.lastIndex = end;
  }
  return result + query.slice(copied);
}

function writtenOut({ parameters, expression }: SqlFunction, list: string[]): string {
  const names = new RegExp(`'(?:[^']|'')*'|\\b(${parameters.join('|')})\\b`, 'g');
  const body = expression.replaceAll(names, (text, name?: string) =>
    name === undefined ? text : operand(list[parameters.indexOf(name)] ?? ''),
  );
  return operand(body);
}

/** Adds parentheses unless the expression is a name, a call or has parentheses already, each with or without a cast. */
function operand(expression: string): string {
  const opening = /^[\w.]*\(/.exec(expression)?.[0].length;
  const rest = opening === undefined ? expression : expression.slice(argumentsFrom(expression, opening).end);
  const isOne = opening === undefined ? /^[\w.]+$/.test(rest) : /^(::\w+(\([\d, ]+\))?)*$/.test(rest);
  return isOne ? expression : `(${expression})`;
}

/** Returns the arguments of a call whose parenthesis opens before `start`, and the place after the call. */
function argumentsFrom(query: string, start: number): { list: string[]; end: number } {
  const list: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < query.length; at++) {
    const character = query[at];
    if (character === '(') depth++;
    else if (character === "'") at = endOfText(query, at);
    else if ((character === ',' || character === ')') && depth === 0) {
      list.push(query.slice(from, at).trim());
      from = at + 1;
      if (character === ')') return { list, end: from };
    } else if (character === ')') depth--;
  }
  throw new Error(`a call has no end: ${query.slice(start, start + 60)}`);
}

function endOfText(query: string, start: number): number {
  const end = query.indexOf("'", start + 1);
  if (end < 0) throw new Error(`a text has no end: ${query.slice(start, start + 60)}`);
  return end;
}
