import { StringDecoder } from 'node:string_decoder';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { maxLineBytes, UnusableFile, type FileProblem, type RecordSink, type RecordTaker } from './record-sink.ts';

type XmlValue = string | null | XmlValue[] | { [name: string]: XmlValue };

/** An element of a record that is not closed yet. */
interface OpenElement {
  /** Attributes and elements in it, by name; several of one name are a list. */
  members: { [name: string]: XmlValue };
  text: string;
}

/** Deeper nesting is an accident. */
const maxDepth = 1000;

/**
 * Takes XML apart, chunk by chunk, into its records as JSON, one a line. A record is an element at `path`: the names of
 * elements from the root on, with dots between. Attributes are `@name`, elements of the same name a list; an element of
 * nothing but text is that text, other text is `#text`, an empty element is null.
 */
export class XmlRecords implements RecordTaker {
  readonly #sink: RecordSink;
  readonly #parser = new SaxesParser<{ xmlns: false }>({ xmlns: false });
  readonly #decoder = new StringDecoder('utf8');
  readonly #path: string | undefined;
  /** Path of the element that holds the records; none where they are the document. */
  readonly #listPath: string;
  #isListFound = false;
  /** Names of the open elements that hold no record. */
  readonly #above: string[] = [];
  /** The open record and the open elements in it. */
  readonly #open: OpenElement[] = [];
  /** Characters of the open record, or since the last tag outside of one. */
  #size = 0;
  #problem: FileProblem | undefined;

  constructor(sink: RecordSink, path: string | undefined) {
    this.#sink = sink;
    this.#path = path;
    this.#listPath = path?.slice(0, Math.max(0, path.lastIndexOf('.'))) ?? '';
    if (path === undefined)
      this.#problem = {
        reason: 'no_records',
        detail: 'it is XML or HTML; format.records names the place of the records, such as offers.offer',
      };
    this.#parser.on('error', (error) => {
      this.#problem ??= { reason: 'broken_xml', detail: `the document is not valid XML: ${error.message}` };
    });
    this.#parser.on('opentag', (tag) => this.#openTag(tag));
    this.#parser.on('closetag', ({ name }) => this.#closeTag(name));
    this.#parser.on('text', (text) => this.#text(text));
    this.#parser.on('cdata', (text) => this.#text(text));
  }

  get problem(): FileProblem | undefined {
    return this.#problem;
  }

  take(chunk: Buffer): void {
    if (this.#problem !== undefined) return;
    this.#size += chunk.length;
    this.#parser.write(this.#decoder.write(chunk));
    // The parser holds a text until it ends.
    if (this.#size > 2 * maxLineBytes) throw new UnusableFile(tooLong);
  }

  finish(): FileProblem | undefined {
    if (this.#problem === undefined) this.#parser.close();
    if (!this.#isListFound)
      this.#problem ??= {
        reason: 'no_records',
        detail: `the element at "${this.#listPath || this.#path}", the place of the records, is not there`,
      };
    return this.#problem;
  }

  #openTag({ name, attributes }: SaxesTagPlain): void {
    if (this.#open.length + this.#above.length >= maxDepth) throw new UnusableFile(tooLong);
    if (this.#open.length === 0) {
      this.#size = 0;
      this.#above.push(name);
      const path = this.#above.join('.');
      if (path === this.#listPath) this.#isListFound = true;
      if (path !== this.#path) return;
      this.#isListFound = true;
      this.#above.pop();
    }
    const members = Object.entries(attributes).map(([key, value]) => [`@${key}`, value]);
    this.#open.push({ members: Object.fromEntries(members) as OpenElement['members'], text: '' });
  }

  #closeTag(name: string): void {
    const element = this.#open.pop();
    if (element === undefined) {
      this.#above.pop();
      return;
    }
    const value = valueOf(element);
    const parent = this.#open.at(-1);
    if (parent !== undefined) return add(parent.members, name, value);
    const record = Buffer.from(JSON.stringify(value));
    if (record.length > maxLineBytes) throw new UnusableFile(tooLong);
    this.#sink.bytes(record);
    this.#sink.endLine();
    this.#size = 0;
  }

  #text(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined) element.text += text;
  }
}

function valueOf({ members, text }: OpenElement): XmlValue {
  const isBare = Object.keys(members).length === 0;
  const written = isBare ? text : text.trim();
  if (isBare) return written.trim() === '' ? null : written;
  return written === '' ? members : { ...members, '#text': written };
}

/** Sets a member as its own, whatever its name is. A value is never a list, so a list is one of several. */
function add(members: OpenElement['members'], name: string, value: XmlValue): void {
  const before = Object.hasOwn(members, name) ? members[name] : undefined;
  if (Array.isArray(before)) before.push(value);
  else {
    const next = before === undefined ? value : [before, value];
    Object.defineProperty(members, name, { value: next, enumerable: true, configurable: true, writable: true });
  }
}

const tooLong: FileProblem = { reason: 'line_too_long', detail: `a record has more than ${maxLineBytes} bytes` };
