import { createHmac } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClickIds } from '../../../src/tracker/clicks/click-id.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { makeClickKeys, openClickKeys, takeClickKeys } from '../../../src/pipeline/routes/click-keys.ts';
import { clickIdOf, route, TrackerUnderTest } from '../tracker-under-test.ts';

const key = Buffer.alloc(32, 7);
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

it('contain offer and time, and sort by time', () => {
  const ids = new ClickIds([key]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.integer({ min: 0, max: 2 ** 47 }), (offerId, mintedAt) => {
      const id = ids.mint(offerId, mintedAt);
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{32}$/);
      expect(ids.verify(id)).toEqual({ offerId, mintedAt });
      expect(ids.mint(1, mintedAt + 1) > id).toBe(true);
    }),
  );
});

it('are Crockford base32 of what they say, ending with an HMAC-SHA256 cut to five bytes', () => {
  const id = new ClickIds([key]).mint(1_000_001, 1_795_000_000_000);
  const bits = Array.from(id).reduce((sum, character) => sum * 32n + BigInt(alphabet.indexOf(character)), 0n);
  const bytes = Buffer.from(bits.toString(16).padStart(40, '0'), 'hex');
  expect([bytes.readUIntBE(0, 6), bytes.readUInt32BE(6)]).toEqual([1_795_000_000_000, 1_000_001]);
  const mac = createHmac('sha256', key).update(bytes.subarray(0, 15)).digest().subarray(0, 5);
  expect(bytes.subarray(15)).toEqual(mac);
});

it('cannot be made up, changed or written otherwise', () => {
  const ids = new ClickIds([key]);
  const id = ids.mint(5, Date.UTC(2026, 0, 1));
  for (let at = 0; at < id.length; at++)
    for (const other of ['0', 'z', 'U', '-', 'é'].filter((each) => each !== id[at]))
      expect(ids.verify(id.slice(0, at) + other + id.slice(at + 1))).toBeUndefined();
  for (const other of [
    id.toUpperCase(),
    `${id}0`,
    id.slice(1),
    '',
    ' '.repeat(32),
    new ClickIds([Buffer.alloc(32)]).mint(5, 0),
  ])
    expect(ids.verify(other)).toBeUndefined();
});

it('no two are the same, also in one millisecond', () => {
  const ids = new ClickIds([key]);
  expect(new Set(Array.from({ length: 10_000 }, () => ids.mint(1, 0))).size).toBe(10_000);
});

it('made by a key before still count, and the key file is for its owner alone', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const path = test.data.clickKeysFile;
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const before = clickIdOf(await test.click(1, 'u'));
  const { keys } = JSON.parse(readFileSync(path, 'utf8')) as { keys: string[] };
  writeFileSync(path, JSON.stringify({ keys: ['ab'.repeat(32), ...keys] }));
  await test.restart();
  const ids = new ClickIds(await openClickKeys(test.data));
  const after = clickIdOf(await test.click(1, 'v'));
  expect([before, after].map((id) => ids.verify(id)?.offerId)).toEqual([1, 1]);
  expect(new ClickIds([Buffer.alloc(32, 0xab)]).verify(after)).toBeDefined();
  for (const broken of ['{', '{"keys":[]}', '{"keys":["not hex"]}']) {
    writeFileSync(path, broken);
    await expect(openClickKeys(test.data)).rejects.toThrow('click-keys.json');
  }
});

it('of another machine and of this one are known to both; the newest and the oldest key are the other machine’s', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const here = clickIdOf(await test.click(1, 'u'));
  const [newest, oldest] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const brought = JSON.stringify({ keys: [newest, oldest] });
  await takeClickKeys(test.data, brought, 'the other machine', realEffects.files);
  const keys = await openClickKeys(test.data);
  expect([keys[0], keys.at(-1)].map((each) => each?.toString('hex'))).toEqual([newest, oldest]);
  expect(new ClickIds(keys).verify(here)?.offerId).toBe(1);
  // What both have already is not written again.
  const before = statSync(test.data.clickKeysFile).ino;
  await takeClickKeys(test.data, readFileSync(test.data.clickKeysFile, 'utf8'), 'it again', realEffects.files);
  expect(statSync(test.data.clickKeysFile).ino).toBe(before);
  await expect(takeClickKeys(test.data, '{}', 's3://bucket/keys', realEffects.files)).rejects.toThrow(
    's3://bucket/keys',
  );
});

it('a first key takes no place of one that somebody else has made meanwhile', async () => {
  await using test = await TrackerUnderTest.start();
  const keys = await openClickKeys(test.data);
  expect(await makeClickKeys(test.data, realEffects.files)).toEqual(keys);
});
