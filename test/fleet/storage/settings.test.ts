import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { defaultSettings, parseSettings } from '../../../src/kit/config/settings.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { ObjectStore } from '../../../src/fleet/storage/object-store.ts';

const storageOf = (storage: object) => parseSettings(JSON.stringify({ storage }), 'offerline.json').storage;
const url = 's3://bucket/network';

it('there is none where none is named; a region is, and nothing is followed', () => {
  expect(defaultSettings.storage).toBeUndefined();
  expect(storageOf({ url })).toEqual({ url, region: 'us-east-1', follow: false });
});

it.for([
  [{}, 'url'],
  [{ url: 'bucket' }, 'is not an address such as s3://bucket/prefix'],
  [{ url: 'https://bucket/x' }, 'is not an address such as s3://bucket/prefix'],
  [{ url: 's3://b/network' }, 'the bucket’s name has 3 to 63 lower-case letters, digits, dots and hyphens'],
  [{ url: 's3://Bucket/x' }, 'is not an address such as s3://bucket/prefix'],
  [{ url: 's3://bucket/a b' }, 'is not an address such as s3://bucket/prefix'],
  [{ url, endpoint: 'localhost:9000' }, 'endpoint'],
  [{ url, endpoint: 'ftp://host' }, 'endpoint'],
  [{ url, region: 'eu central' }, 'is not a region such as eu-central-1'],
  [{ url, access_key_id: 'id' }, 'access_key_id and secret_access_key go together'],
  [{ url, secret_access_key: 'key' }, 'access_key_id and secret_access_key go together'],
  [{ url, access_key_id: 7, secret_access_key: 'key' }, 'is a text, {"env": "NAME"} or {"file": "/path"}'],
  [{ url, follow: 'yes' }, 'follow'],
  [{ url, bucket: 'x' }, 'bucket'],
] as const)('%o is refused: %s', ([storage, told]) => {
  expect(() => storageOf(storage)).toThrow(told);
});

it('a key that is not there is told by its name, before anything is asked', async () => {
  const keys = { access_key_id: 'id', secret_access_key: { env: 'NOT_THERE_AT_ALL' } };
  await expect(ObjectStore.open(storageSchema.parse({ url, ...keys }))).rejects.toThrow(
    'offerline.json: storage.secret_access_key: the environment has no NOT_THERE_AT_ALL',
  );
  const file = { access_key_id: 'id', secret_access_key: { file: '/not/there' } };
  await expect(ObjectStore.open(storageSchema.parse({ url, ...file }))).rejects.toThrow('/not/there cannot be read');
});

it('the room tells every key of `storage`, and no other', () => {
  const readme = readFileSync(new URL('../../../src/fleet/storage/README.md', import.meta.url), 'utf8');
  const table = readme.slice(readme.indexOf('| key | meaning |'), readme.indexOf('## What is there'));
  const told = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, keys]) => keys?.match(/\w+/g) ?? []);
  expect(told.toSorted()).toEqual(Object.keys(storageSchema.shape).toSorted());
});
