import type { RecordSink, RecordTaker } from './record-sink.ts';
import { isPlain } from './text-check.ts';

/** Picture of the character at which the line reader cuts, shown in its place. */
const lineCutShown = Buffer.from('\u2401').toString('latin1');

/** Copies lines, chunk by chunk, with every line end as `\n` and without what the line reader cuts at. */
export class PlainLines implements RecordTaker {
  /** Any text is lines. */
  readonly problem = undefined;
  readonly #lines: RecordSink;
  #heldReturn = false;

  constructor(lines: RecordSink) {
    this.#lines = lines;
  }

  take(chunk: Buffer): void {
    if (!this.#heldReturn && isPlain(chunk)) {
      this.#lines.bytes(chunk);
      return;
    }
    let text = chunk.toString('latin1');
    if (this.#heldReturn) text = `\r${text}`;
    this.#heldReturn = text.endsWith('\r');
    if (this.#heldReturn) text = text.slice(0, -1);
    this.#lines.bytes(Buffer.from(text.replace(/\r\n?/g, '\n').replaceAll('\u0001', lineCutShown), 'latin1'));
  }

  finish(): undefined {
    if (this.#heldReturn) this.#lines.bytes(Buffer.from('\n'));
  }
}
