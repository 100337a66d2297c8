import type { Socket } from 'node:net';

const endOfHead = '\r\n\r\n';

/**
 * Has what arrives on a connection read up to the end of one request, and the rest when the connection is free for the
 * next. Node by itself takes up to 64 KiB at a time and makes requests of all of it, fifty times its memory, before
 * anybody can pause it. Returns what is to be called when the connection has become free.
 */
export function readPaced(socket: Socket, isFree: () => boolean): () => void {
  const push = socket.push.bind(socket);
  const fetch = socket._read.bind(socket);
  /** What has come and was not read yet. */
  let rest: Buffer = Buffer.alloc(0);
  const readOn = () => {
    let wantsMore = true;
    while (rest.length > 0 && isFree()) {
      const end = rest.indexOf(endOfHead);
      const request = end === -1 ? rest : rest.subarray(0, end + endOfHead.length);
      rest = rest.subarray(request.length);
      wantsMore = push(request);
    }
    return wantsMore && rest.length === 0;
  };
  socket.push = (bytes: Buffer | null) => {
    // The end: it is not heard of before all that came before it has been read.
    if (bytes === null) return push(null);
    rest = bytes;
    return readOn();
  };
  socket._read = (size) => {
    if (rest.length === 0) fetch(size);
  };
  // Where nobody else listens, Node's parser takes the bytes from the system itself, past all this.
  socket.on('data', () => undefined);
  // In a turn of its own, so that one client's hundreds do not come before the first request of another.
  return () => {
    if (rest.length > 0) setImmediate(readOn);
  };
}
