import type { LineFile } from './line-file.ts';

/** DuckDB's line reader cuts here. It is nowhere in valid JSON, so a line that has it is a reject and may show a picture of it. */
const lineCut = 0x01;
const lineCutShown = Buffer.from('\u2401').toString('latin1');

/** Whether lines have what the line reader stumbles over: it counts `\r\n` as two lines. */
export function isPlain(chunk: Buffer): boolean {
  return !chunk.includes(0x0d) && !chunk.includes(lineCut);
}

/** Copies lines, chunk by chunk, with every line end as `\n` and without what the line reader cuts at. */
export class PlainLines {
  readonly #lines: LineFile;
  #heldReturn = false;

  constructor(lines: LineFile) {
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
