/** A file in MaxMind's format (MMDB 2.0) that has countries of IPv4 addresses by their first byte. */
export function countryFile(countries: Record<number, string>): Buffer {
  const codes = [...new Set(Object.values(countries))];
  const records = codes.map((code) => map({ country: map({ iso_code: text(code) }) }));
  const offsets = records.map((_, index) => records.slice(0, index).reduce((sum, { length }) => sum + length, 0));
  // A node for each bit before the last that decides a first byte: heap order, so node n leads to 2n+1 and 2n+2.
  const nodes = 255;
  const pointer = (firstByte: number) => {
    const code = countries[firstByte];
    return code === undefined ? nodes : nodes + 16 + (offsets[codes.indexOf(code)] as number);
  };
  const tree = Buffer.alloc(nodes * 6);
  for (let node = 0; node < nodes; node++)
    for (const bit of [0, 1]) {
      const child = 2 * node + 1 + bit;
      tree.writeUIntBE(child < nodes ? child : pointer(child - nodes), node * 6 + bit * 3, 3);
    }
  const metadata = map({
    binary_format_major_version: uint16(2),
    binary_format_minor_version: uint16(0),
    build_epoch: uint64(1_795_000_000),
    database_type: text('Test-Country'),
    description: map({}),
    ip_version: uint16(4),
    languages: Buffer.from([0x00, 0x04]),
    node_count: uint32(nodes),
    record_size: uint16(24),
  });
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    ...records,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ]);
}

function map(fields: Record<string, Buffer>): Buffer {
  const pairs = Object.entries(fields).flatMap(([name, value]) => [text(name), value]);
  return Buffer.concat([Buffer.from([0xe0 | (pairs.length / 2)]), ...pairs]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)]);
}

function uint16(value: number): Buffer {
  return Buffer.from([0xa2, value >> 8, value & 255]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.from([0xc4, 0, 0, 0, 0]);
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(10);
  bytes.set([0x08, 0x02]);
  bytes.writeBigUInt64BE(BigInt(value), 2);
  return bytes;
}
