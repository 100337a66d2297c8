import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { settingsSchema } from '../../../src/kit/config/settings.ts';
import { it } from '../../support/landing-test.ts';
import { click, LogLanding } from '../../support/log-landing.ts';
import { rounds } from '../../support/rounds.ts';

/* Files that people have, damaged as transfers, editors and other programs damage them. */

const exports = new URL('../../../data/exports/', import.meta.url);

interface NetworkExport {
  mapping: { match: string };
  name: string;
  bytes: Buffer;
}

const networkExports: NetworkExport[] = readdirSync(exports, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name: folder }) => {
    const at = new URL(`${folder}/`, exports);
    const mapping = JSON.parse(readFileSync(new URL('mapping.json', at), 'utf8')) as { match: string };
    return readdirSync(at)
      .filter((name) => !/^(mapping\.json|(expected|events)\.ndjson)$/.test(name))
      .map((name) => ({ mapping, name, bytes: readFileSync(new URL(name, at)) }));
  });

/** Texts that mean something to a reader of one form or another. */
const marks = [
  '"',
  "'",
  ',',
  ';',
  '\t',
  '\n',
  '\r',
  '\\',
  '\0',
  '{',
  '}',
  '[',
  ']',
  ':',
  '-',
  '<',
  '>',
  '&',
  '~',
  '\u001A',
];
const words = [
  '\\ud800',
  '\\u0000',
  '[[[[',
  'null',
  'NaN',
  '1e999',
  '0x1F',
  '{"~raw":',
  '__proto__',
  '=1+1',
  '&#0;',
  '<!--',
];
const rarities = ['\uFEFF', '\u2028', 'ä', '😀', '9'.repeat(40), ' '.repeat(50)];
const strange = fc.oneof(
  fc.constantFrom(...marks, ...words, ...rarities).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 1 }).map((bytes) => Buffer.from(bytes)),
);

type Damage = (bytes: Buffer, other: Buffer) => Buffer;

const place = fc.double({ min: 0, max: 1, noNaN: true });
const length = fc.oneof(fc.nat(3), fc.nat(200));
const damage: fc.Arbitrary<Damage> = fc.oneof(
  // A transfer that broke off.
  place.map<Damage>((to) => (bytes) => bytes.subarray(0, Math.floor(to * bytes.length))),
  // A part that is missing, was written over, or comes many times.
  fc.tuple(place, length, strange).map<Damage>(([from, missing, instead]) => (bytes) => {
    const at = Math.floor(from * bytes.length);
    return Buffer.concat([bytes.subarray(0, at), instead, bytes.subarray(at + missing)]);
  }),
  fc.tuple(place, length, fc.integer({ min: 1, max: 40 })).map<Damage>(([from, repeated, times]) => (bytes) => {
    const at = Math.floor(from * bytes.length);
    const part = bytes.subarray(at, at + repeated);
    return Buffer.concat([bytes.subarray(0, at), ...Array.from({ length: times }, () => part), bytes.subarray(at)]);
  }),
  // Two files that were put together.
  fc.tuple(place, place).map<Damage>(([to, from]) => (bytes, other) => {
    const rest = other.subarray(Math.floor(from * other.length));
    return Buffer.concat([bytes.subarray(0, Math.ceil(to * bytes.length)), rest]);
  }),
  // Another program's encoding and ends of lines.
  fc.constantFrom<Damage>(
    (bytes) => Buffer.from(bytes.toString(), 'utf16le'),
    (bytes) => Buffer.from(`\uFEFF${bytes.toString()}`, 'utf16le'),
    (bytes) => Buffer.from(bytes.toString(), 'latin1'),
    (bytes) => Buffer.from(`\uFEFF${bytes.toString()}`),
    (bytes) => Buffer.from(bytes.toString().replaceAll(/\r?\n/g, '\r\n')),
    (bytes) => Buffer.from(bytes.toString().replaceAll(/\r?\n/g, '\r')),
  ),
);

const anyExport = fc.constantFrom(...networkExports);
const packing = fc.constantFrom('', '', '', '.gz', 'truncated.gz');
const damagedExport = fc
  .record({ of: anyExport, other: anyExport, damages: fc.array(damage, { minLength: 1, maxLength: 4 }), packing })
  .map(({ of: { mapping, name, bytes }, other, damages, packing: wanted }) => {
    // A workbook is a zip already.
    const packed = name.endsWith('.xlsx') ? '' : wanted;
    const damaged = damages.reduce((all, each) => each(all, other.bytes), bytes);
    const gz = gzipSync(damaged);
    return {
      folder: mapping.match.replace(/\/[^/]*\*.*$/, ''),
      name: packed === '' ? name : `${name}.gz`,
      content: packed === '' ? damaged : gz.subarray(0, gz.length - (packed === '.gz' ? 0 : 9)),
      // A whole file is no counterexample to read.
      [fc.toStringMethod]: () => `${mapping.match} ${name}${packed}`,
    };
  });

it('an export of a network, wherever it is damaged, ends no run and takes no good file with it', async () => {
  const settings = settingsSchema.parse({
    files: [...new Set(networkExports.map(({ mapping }) => mapping))],
    rates: { EUR: '1.1', GBP: '1.3', PLN: '0.25' },
  });
  let run = 0;
  const bytesBefore = new Set<string>();
  await using landing = await LogLanding.create();
  await fc.assert(
    fc.asyncProperty(fc.array(damagedExport, { minLength: 5, maxLength: 10 }), async (files) => {
      run++;
      const landed: string[] = [];
      for (const [index, { folder, name, content }] of files.entries()) {
        // The same bytes count once per kind.
        const bytes = `${folder.split('/')[0]} ${content.toString('base64')}`;
        if (bytesBefore.has(bytes)) continue;
        bytesBefore.add(bytes);
        const path = `${folder}/${run}-${index}/${name}`;
        // A last line without an end is waited for where the file is young.
        await landing.putAt(path, content, '2026-11-17T00:00:00Z');
        landed.push(path);
      }
      await landing.put(`clicks/${run}-good.ndjson`, [click(`good-${run}`)]);
      await landing.ingest({ settings });
      const entries = await landing.query<{ path: string }>('SELECT path FROM ingest_files');
      const known = new Set(entries.map(({ path }) => path));
      expect(landed.filter((path) => !known.has(path))).toEqual([]);
      expect(
        await landing.query(
          `SELECT path, rows, accepted, duplicates, rejected FROM ingest_files
           WHERE rows <> accepted + duplicates + rejected OR (status = 'quarantined' AND rows <> 0)
             OR rejected <> (SELECT count(*) FROM rejects WHERE rejects.file_id = ingest_files.file_id)`,
        ),
      ).toEqual([]);
      expect(await landing.ledger()).toContain(`clicks/${run}-good.ndjson loaded 1=1+0+0`);
    }),
    { numRuns: rounds(2, 15), endOnFailure: true },
  );
});
