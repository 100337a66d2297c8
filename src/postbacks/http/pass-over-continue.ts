import type { Socket } from 'node:net';

const statusLine = Buffer.from('HTTP/1.1 100');
const lastDigit = statusLine.length - 1;

/**
 * Lets undici pass over an unrequested "100 Continue", as it does over other statuses below 200: at this one it breaks
 * the connection off, and no option changes that, so undici gets 102 instead. Where the same bytes are in a response's
 * body they are changed too: nothing reads a body.
 */
export function passOverContinue(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  /** How many bytes of a status line ended what was read last. */
  let begun = 0;
  socket.read = (size) => {
    const chunk = read(size);
    if (chunk === null) return null;
    if (begun > 0 && continues(chunk, begun)) {
      begun += chunk.length;
      if (begun <= lastDigit) return chunk;
      chunk[chunk.length - (begun - lastDigit)] = 0x32;
    }
    for (let at = chunk.indexOf(statusLine); at !== -1; at = chunk.indexOf(statusLine, at))
      chunk[at + lastDigit] = 0x32;
    begun = begunAtEnd(chunk);
    return chunk;
  };
}

/** Whether a chunk goes on with a status line of which so many bytes came before. */
function continues(chunk: Buffer, begun: number): boolean {
  const rest = statusLine.subarray(begun, begun + chunk.length);
  return chunk.subarray(0, rest.length).equals(rest);
}

function begunAtEnd(chunk: Buffer): number {
  const start = chunk.lastIndexOf('H');
  const begun = start === -1 ? 0 : chunk.length - start;
  return begun < statusLine.length && chunk.subarray(start).equals(statusLine.subarray(0, begun)) ? begun : 0;
}
