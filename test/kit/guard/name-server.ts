import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { onTestFinished } from 'vitest';

/** Addresses by name; `hang` of a family that is never answered. A name that is missing does not exist. */
type Zone = Record<string, { 4?: string[] | 'hang'; 6?: string[] | 'hang' }>;

const typeOf = { 4: 1, 6: 28 };
const noSuchName = 3;

/** A name server of this machine until the running test ends; `asked` are the names in order. */
export async function nameServer(zone: Zone): Promise<{ servers: string[]; asked: string[] }> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const entry = zone[name];
    const found = entry?.[type === typeOf[6] ? 6 : 4] ?? [];
    if (found !== 'hang')
      socket.send(answerTo(query.subarray(0, end), type, found, entry !== undefined), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, type: number, addresses: string[], exists: boolean): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 + (exists ? 0 : noSuchName), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = isIPv6(address) ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number));
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc0_0c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

/** Of an address whose groups are all written. */
function ipv6Bytes(address: string): Buffer {
  return Buffer.from(
    address.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}
