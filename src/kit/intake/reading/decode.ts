import iconv from 'iconv-lite';
import { UnusableFile } from './record-sink.ts';

/** Marks at the beginning of a text that tell its encoding. */
const marks: readonly [string, Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

const byOtherNames = new Map([
  ['utf8', 'utf-8'],
  ['utf16le', 'utf-16le'],
  ['utf16be', 'utf-16be'],
]);
/** Encodings that Node's decoder reads, by the names that `encodingOf` gives them. */
const utf16: readonly string[] = ['utf-16', 'utf-16le', 'utf-16be'];

/**
 * Returns a text's encoding: by its byte order mark, else the one that is named, else UTF-8. It is never guessed:
 * Latin-1 and its kin fit any bytes.
 */
export function encodingOf(head: Buffer, named: string | undefined): string {
  const marked = marks.find(([, mark]) => head.subarray(0, mark.length).equals(mark));
  if (marked !== undefined) return marked[0];
  const name = (named ?? 'utf-8').toLowerCase();
  return byOtherNames.get(name.replaceAll(/[-_ ]/g, '')) ?? name;
}

/** Returns the encoding that an XML document says of itself, where its text begins with a declaration. */
export function declaredEncoding(text: string): string | undefined {
  return /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(text)?.[1];
}

/** Returns whether text of an encoding can be read. */
export function isEncoding(name: string): boolean {
  return iconv.encodingExists(name);
}

/** Turns text of another encoding into UTF-8, chunk by chunk. A byte order mark is left out. */
export class Decoder {
  readonly #encoding: string;
  readonly #decode: (chunk: Buffer) => string;
  readonly #end: () => string;

  /** Throws `UnusableFile` where nobody knows the encoding. */
  constructor(encoding: string) {
    this.#encoding = encoding;
    if (utf16.includes(encoding)) {
      // Refuses halves of surrogates, which the library below would replace.
      const decoder = new TextDecoder(encoding, { fatal: true });
      this.#decode = (chunk) => decoder.decode(chunk, { stream: true });
      this.#end = () => decoder.decode();
    } else {
      if (!isEncoding(encoding))
        throw new UnusableFile({
          reason: 'unknown_encoding',
          detail: `no encoding is named "${encoding}"; usual ones are windows-1252, iso-8859-15, cp850 and shift_jis`,
        });
      const decoder = iconv.getDecoder(encoding);
      this.#decode = (chunk) => assertKnown(decoder.write(chunk));
      this.#end = () => assertKnown(decoder.end() ?? '');
    }
  }

  /** Throws `UnusableFile` where the bytes are no text of this encoding. */
  decode(chunk: Buffer): Buffer {
    return this.#checked(() => this.#decode(chunk));
  }

  end(): Buffer {
    return this.#checked(this.#end);
  }

  #checked(decode: () => string): Buffer {
    try {
      return Buffer.from(decode(), 'utf8');
    } catch {
      throw new UnusableFile({ reason: 'bad_encoding', detail: `the text is not valid ${this.#encoding}` });
    }
  }
}

/** Refuses the character for bytes without a meaning: texts of such encodings have no such character of their own. */
function assertKnown(text: string): string {
  if (text.includes('\ufffd')) throw new RangeError('bytes without a meaning');
  return text;
}

/** Returns the beginning of a text, whose last character may be cut off. */
export function decodeHead(head: Buffer, encoding: string): string {
  if (encoding === 'utf-8') return head.toString('utf8').replace(/^\ufeff/, '');
  if (utf16.includes(encoding)) return new TextDecoder(encoding).decode(head, { stream: true });
  return iconv.encodingExists(encoding) ? iconv.decode(head, encoding) : head.toString('latin1');
}
