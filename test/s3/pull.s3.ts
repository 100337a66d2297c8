import { readFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { offerline } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { bucketData, declareBucket, landedClicks, secrets } from './store/bucket-source.ts';
import { FaultyProxy } from './store/faulty-proxy.ts';
import { Moto } from './store/moto.ts';

let moto: Moto;
let proxy: FaultyProxy;
let data: DataDirectory;

beforeAll(async () => {
  moto = await Moto.start();
  await moto.createBucket();
  proxy = await FaultyProxy.before(moto.url);
  return async () => {
    await proxy[Symbol.asyncDispose]();
    await moto[Symbol.asyncDispose]();
  };
});
beforeEach(async () => {
  const temporary = await bucketData(proxy.url);
  onTestFinished(temporary.remove);
  data = temporary.data;
  proxy.fault = () => undefined;
  proxy.requests.length = 0;
});

interface Pulled {
  sources: { status: string; pages: number; records: number; left_out: Record<string, number>; error: string | null }[];
}
async function pull() {
  const { stdout, ...ended } = await endOf(data.root, 'sources', 'pull', '--json');
  return { ...ended, ...(JSON.parse(stdout) as Pulled).sources[0] };
}
const contents = async () => [...(await landedClicks(data)).values()].map(String);

describe('a store of other people', () => {
  const keys = ['clicks/a.ndjson', 'clicks/2026-11-18/edge fra/ü+&<1>.ndjson', 'clicks/b.csv', 'clicks/%41.json'];

  it('gives each object once, and again what is put under its key since', async () => {
    for (const key of keys) await moto.put(key, `${key}\n`);
    await moto.put('clicks/notes.md', 'x');
    await moto.put('clicks/folder/', '');
    onTestFinished(async () => {
      for (const key of [...keys, 'clicks/notes.md', 'clicks/folder/']) await moto.remove(key);
    });
    expect(await pull()).toMatchObject({
      status: 'done',
      pages: 3,
      records: 4,
      left_out: { unread_ending: 1, folder: 1 },
    });
    expect((await contents()).toSorted()).toEqual(keys.map((key) => `${key}\n`).toSorted());
    proxy.takeReads();
    expect(await pull()).toMatchObject({ status: 'done', records: 0 });
    expect(proxy.takeReads()).toEqual([]);
    await moto.put('clicks/a.ndjson', 'more\n');
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect((await contents()).toSorted()).toEqual([...keys.map((key) => `${key}\n`), 'more\n'].toSorted());
  });

  it('is waited for where it is busy, breaks off or cuts connections', async () => {
    const large = Buffer.alloc(20_000_003, 'a log of clicks\n');
    await moto.put('clicks/large.ndjson', large);
    onTestFinished(() => moto.remove('clicks/large.ndjson'));
    const faults = [
      { cutAfter: 9_000_000 },
      { status: 500, code: 'InternalError' },
      { status: 503, code: 'SlowDown' },
      { cutAfter: 0 },
    ];
    proxy.fault = ({ path }) => (path.includes('large') ? faults.pop() : undefined);
    expect(await pull()).toMatchObject({ code: 0, status: 'done', records: 1 });
    expect(faults).toEqual([]);
    const [landed, ...others] = (await landedClicks(data)).values();
    expect(others).toEqual([]);
    expect(landed?.equals(large)).toBe(true);
    const ranges = proxy.takeReads().map(({ range }) => range);
    expect(ranges.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(ranges.slice(4)).toEqual([expect.stringMatching(/^bytes=\d{5,}-20000002$/)]);
  });

  it('gives an object that was put in parts', async () => {
    const parts = [Buffer.alloc(6_000_000, 'one\n'), Buffer.alloc(6_000_000, 'two\n'), Buffer.from('three\n')];
    await moto.putInParts('clicks/parts.ndjson', parts);
    onTestFinished(() => moto.remove('clicks/parts.ndjson'));
    expect(await pull()).toMatchObject({ status: 'done', records: 1, error: null });
    const [landed] = (await landedClicks(data)).values();
    expect(landed?.equals(Buffer.concat(parts))).toBe(true);
  });

  it('is shown by `sources check` and `sources list`', async () => {
    await moto.put('clicks/a.ndjson', 'a\n');
    onTestFinished(() => moto.remove('clicks/a.ndjson'));
    const checked = await endOf(data.root, 'sources', 'check');
    expect(checked.stdout).toMatch(
      /^source +on_page +new +in_all +postback +error +first\nlogs +1 +1 +1 +- +- +clicks\/a\.ndjson\n$/,
    );
    await pull();
    const listed = await endOf(data.root, 'sources', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({
      sources: [{ source: 'logs', connector: 's3', last_pull: 'done', records: 1, error: null }],
    });
  });
});

describe('a store that looks at keys', () => {
  let strict: Moto;
  const keys = { access_key_id: '', secret_access_key: '' };

  beforeAll(async () => {
    // So many requests are let pass before it looks.
    strict = await Moto.start({ environment: { INITIAL_NO_AUTH_ACTION_COUNT: '5' } });
    await strict.createBucket();
    await strict.put('clicks/ü a.ndjson', 'a\n');
    await askIam(strict.url, { Action: 'CreateUser', UserName: 'pull' });
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' };
    await askIam(strict.url, {
      Action: 'PutUserPolicy',
      UserName: 'pull',
      PolicyName: 'read',
      PolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
    });
    const made = await askIam(strict.url, { Action: 'CreateAccessKey', UserName: 'pull' });
    keys.access_key_id = /<AccessKeyId>([^<]+)/.exec(made)?.[1] ?? '';
    keys.secret_access_key = /<SecretAccessKey>([^<]+)/.exec(made)?.[1] ?? '';
    return () => strict[Symbol.asyncDispose]();
  });

  it('takes ours', async () => {
    await declareBucket(data, strict.url, { keys });
    expect(await pull()).toMatchObject({ status: 'done', records: 1, error: null });
  });

  it.each([
    ['an unknown key', () => ({ ...keys, access_key_id: 'AKIANOBODYKNOWSTHIS0' }), 'InvalidAccessKeyId'],
    ['a wrong secret', () => ({ ...keys, secret_access_key: secrets.secret_access_key }), 'SignatureDoesNotMatch'],
  ])('refuses %s, which one plain line tells', async (_what, wrong, code) => {
    await declareBucket(data, strict.url, { keys: wrong() });
    const { stdout, stderr, code: exit } = await offerline(data.root, 'sources', 'pull', '--json');
    expect(exit).toBe(1);
    const { error } = (JSON.parse(stdout) as Pulled).sources[0] ?? {};
    expect(error).toMatch(new RegExp(`^bucket logs: HTTP 403 ${code}: .*; see .*"secrets".*$`));
    const all = stdout + stderr + (await readFile(data.pullLedgerFile, 'latin1'));
    for (const secret of Object.values(wrong())) expect(all).not.toContain(secret);
    expect(all).not.toMatch(/Signature=|AWS4-HMAC/);
  });
});

/** Asks moto's users for something, as its own clients would. */
async function askIam(url: string, query: Record<string, string>): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ ...query, Version: '2010-05-08' }),
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=any/20261118/us-east-1/iam/aws4_request' },
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(said);
  return said;
}
