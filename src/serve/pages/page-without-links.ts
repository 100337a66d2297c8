import { pieceBytes } from '../http/response.ts';
import type { Body } from '../http/response.ts';
import { entityTag } from '../../kit/http/entity-tag.ts';
import type { PageBody } from './prepared-page.ts';

/** Placeholder for the end of an offer's link: user and site. JSON always escapes this character. */
export const linkPlaceholder = '\0';

/**
 * A page that is the same for all users of all sites with the same terms, but for where its links lead: kept once, and
 * filled in while it is sent.
 */
export class PageWithoutLinks {
  readonly #source: Buffer;
  readonly #tag: string;
  /** Places of the placeholders. */
  readonly #gaps: readonly number[];

  constructor({ bytes, tag }: PageBody) {
    this.#source = bytes;
    this.#tag = tag;
    const gaps: number[] = [];
    for (let gap = bytes.indexOf(linkPlaceholder); gap !== -1; gap = bytes.indexOf(linkPlaceholder, gap + 1))
      gaps.push(gap);
    this.#gaps = gaps;
  }

  get bytes(): number {
    return this.#source.length + this.#gaps.length * 8;
  }

  /** The page of one user. The head is JSON that comes before it; the link's end is percent-encoded. */
  linked(head: string, linkEnd: string): PageBody<Body> {
    const source = this.#source;
    const gaps = this.#gaps;
    const [start, end] = [Buffer.from(head), Buffer.from(linkEnd)];
    const length = start.length + source.length + gaps.length * (end.length - linkPlaceholder.length);
    const parts = () => filledIn(start, source, gaps, end);
    const whole = () => Buffer.concat([...parts()], length);
    return {
      // None of the parts holds a line feed: JSON writes it otherwise.
      tag: entityTag(`${this.#tag}\n${head}\n${linkEnd}`),
      bytes: length <= pieceBytes ? whole() : { length, source, whole, pieces: () => inPieces(parts()) },
    };
  }
}

function* filledIn(
  start: Buffer,
  source: Buffer,
  gaps: readonly number[],
  end: Buffer,
): Generator<Buffer, void, undefined> {
  yield start;
  let from = 0;
  for (const gap of gaps) {
    yield source.subarray(from, gap);
    yield end;
    from = gap + linkPlaceholder.length;
  }
  yield source.subarray(from);
}

/**
 * The same bytes in pieces of equal size, since the parts are many and short; all in the same memory, one after the
 * other.
 */
function* inPieces(parts: Iterable<Buffer>): Generator<Buffer, void, undefined> {
  const piece = Buffer.allocUnsafeSlow(pieceBytes);
  let length = 0;
  for (const part of parts) {
    for (let from = 0; from < part.length;) {
      const copied = part.copy(piece, length, from);
      from += copied;
      length += copied;
      if (length < pieceBytes) continue;
      yield piece;
      length = 0;
    }
  }
  if (length > 0) yield piece.subarray(0, length);
}
