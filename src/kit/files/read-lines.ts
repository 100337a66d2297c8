import { readThrough } from './read-through.ts';

const newline = 10;
/** A longer line is none of ours, such as the zeros that a loss of power leaves. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * Hands a file's lines to `see`, one by one and without their ends; the last one needs no end. Memory is that of a
 * line. One of more than 16 MiB is passed over.
 */
export async function readLines(path: string, see: (line: string) => void): Promise<void> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const add = (bytes: Buffer) => {
    begunBytes += bytes.length;
    if (begunBytes > maxLineBytes) begun = [];
    else begun.push(bytes);
  };
  const end = () => {
    if (begunBytes <= maxLineBytes) see(Buffer.concat(begun).toString('utf8'));
    begun = [];
    begunBytes = 0;
  };
  await readThrough(path, (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      if (begunBytes === 0) see(chunk.toString('utf8', from, at));
      else {
        add(chunk.subarray(from, at));
        end();
      }
      from = at + 1;
    }
    // A copy: the chunk is overwritten by the next one.
    if (from < chunk.length) add(Buffer.from(chunk.subarray(from)));
  });
  if (begunBytes > 0) end();
}
