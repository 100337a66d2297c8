import fc from 'fast-check';
import { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { passOverContinue } from '../../../src/postbacks/http/pass-over-continue.ts';

/** Returns what is read of a connection that these chunks arrive on. */
function readOf(chunks: readonly Buffer[]): string {
  const arriving = chunks.map((chunk) => Buffer.from(chunk));
  const socket = { read: () => arriving.shift() ?? null } as unknown as Readable as Socket;
  passOverContinue(socket);
  const read: Buffer[] = [];
  for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
    read.push(chunk);
  expect(read.map(({ length }) => length)).toEqual(chunks.map(({ length }) => length));
  return Buffer.concat(read).toString('latin1');
}

it('reads 102 for 100, wherever what arrives is cut', () => {
  const words = fc.constantFrom(
    'HTTP/1.1 100',
    'HTTP/1.1 10',
    'HTTP/1.1 200',
    'H',
    'HTTP/1.1 ',
    'HTTP',
    '100',
    '0',
    ' Continue\r\n\r\n',
    'x',
  );
  const cuts = fc.array(fc.nat({ max: 14 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), cuts, (text, lengths) => {
      const whole = Buffer.from(text.join(''));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const length of lengths) {
        chunks.push(whole.subarray(at, at + length));
        at += length;
      }
      chunks.push(whole.subarray(at));
      expect(readOf(chunks)).toBe(whole.toString().replaceAll('HTTP/1.1 100', 'HTTP/1.1 102'));
    }),
    { numRuns: 2000 },
  );
});
