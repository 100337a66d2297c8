import { isUtf8 } from 'node:buffer';
import { declaredEncoding, Decoder, decodeHead, encodingOf } from '../../kit/intake/reading/decode.ts';
import { noNames } from '../../kit/intake/reading/json-shape.ts';
import { RecordReader } from '../../kit/intake/reading/record-reader.ts';
import { RecordList, UnusableFile } from '../../kit/intake/reading/record-sink.ts';
import { rowRecord } from '../../kit/intake/reading/row-record.ts';
import { parseJson, type JsonValue } from '../../kit/text/json-text.ts';
import type { AnswerFileFormat } from '../connectors/declaration.ts';

/** Bytes that the records of a page may take: each has the names of its columns. */
const maxRecordBytes = 128 * 1024 * 1024;

/** Encodings whose bytes may be valid UTF-8 and mean something else. */
const inAscii = /^(?:utf-?16|utf-?32|utf-?7|ucs-?[24]|iso-?2022|hz)/i;

/**
 * Returns the encoding of an answer: that of a byte order mark, else the one that the source declares, else the charset
 * of the answer, else UTF-8. Servers name a charset for all that they send, so text that is UTF-8 counts as that.
 */
export function answerEncoding(
  body: Buffer,
  contentType: string | undefined,
  { type, encoding }: AnswerFileFormat,
): string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  if (encoding !== undefined) return encodingOf(body, encoding);
  if (charset !== undefined && (inAscii.test(charset) || !isUtf8(body))) return encodingOf(body, charset);
  const isDeclared = type === 'xml' && !isUtf8(body);
  return encodingOf(body, isDeclared ? declaredEncoding(body.toString('latin1', 0, 200)) : undefined);
}

/** Returns the text of an answer, with U+FFFD for bytes without a meaning. */
export function answerText(body: Buffer, encoding: string): string {
  return decodeHead(body, encoding);
}

/** Returns why an answer is no text of its encoding. */
export function encodingProblem(body: Buffer, encoding: string): string | undefined {
  if (encoding === 'utf-8')
    return isUtf8(body)
      ? undefined
      : 'the answer is not valid UTF-8 and names no other charset; "format" may name its encoding, such as windows-1252';
  try {
    const decoder = new Decoder(encoding);
    decoder.decode(body);
    decoder.end();
    return undefined;
  } catch (error) {
    if (error instanceof UnusableFile) return `the answer cannot be read: ${error.problem.detail}`;
    throw error;
  }
}

const space = 0x20;

/** Reads the records of an answer of CSV or XML, as landing reads a file, and of CSV the names of its columns. */
export function readTable(
  body: Buffer,
  encoding: string,
  { type, delimiter, header, skip }: AnswerFileFormat,
  place: string,
): { records: JsonValue[]; columns?: readonly string[] | undefined } | { problem: string; lacksList?: boolean } {
  const list = new RecordList(maxRecordBytes);
  const settings = { encoding, delimiter, header, skip, ...(type === 'xml' && { records: place }) };
  try {
    const reader = new RecordReader(list, { settings, names: noNames, isWhole: true });
    reader.take(body);
    const { format, problem, columns, firstRow } = reader.finish();
    const isEmpty = body.every((byte) => byte <= space);
    // A page of CSV behind the last one may lack its header too.
    if (isEmpty && type === 'csv') return { records: [] };
    if (format !== type) return { problem: `the answer is ${isEmpty ? 'empty' : format}, and no ${type}` };
    if (problem !== undefined) throw new UnusableFile(problem);
    const records: JsonValue[] = [];
    for (const { line, text } of list.records(firstRow)) {
      const value = parseJson(text) ?? null;
      const record = Array.isArray(value) && columns !== null ? rowRecord(value, columns) : value;
      if (record === undefined)
        return { problem: `line ${line} of the answer has more cells than its header has names` };
      records.push(record);
    }
    return { records, columns: columns ?? undefined };
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    const { reason, detail } = error.problem;
    const cure = reason === 'document_too_large' ? ': ask for smaller pages, or for fewer fields' : '';
    return {
      problem: `the answer is no ${type} that can be read: ${detail}${cure}`,
      lacksList: type === 'xml' && reason === 'no_records',
    };
  }
}
