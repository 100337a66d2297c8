import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { nodeArguments } from '../../support/command-line.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { SmallBucket } from '../../support/small-bucket.ts';
import { slow } from '../../support/slow.ts';

const mebibyte = 2 ** 20;
const program = fileURLToPath(new URL('../pull-and-report-memory.ts', import.meta.url));
const secrets = { access_key_id: 'AKIAOFFERLINETEST', secret_access_key: 'very/secret+key' };

/** The same part again and again, for as long as anybody reads. */
function endless(response: ServerResponse, part: string): void {
  const chunk = part.repeat(Math.ceil(65_536 / part.length));
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}
const list = (response: ServerResponse, part: string, times: number, end = '') =>
  void response.end(`<ListBucketResult><Name>logs</Name>${part.repeat(times)}${end}</ListBucketResult>`);
let page = 0;

const lists: [name: string, answer: (response: ServerResponse) => void, error: RegExp][] = [
  ['small objects', (response) => list(response, '<Contents/>', 700_000), /more than 200000 tags and attributes/],
  [
    'attributes',
    (response) => list(response, `<a ${'b=""'.repeat(250_000)}/>`, 1),
    /more than 200000 tags and attributes/,
  ],
  ['depths', (response) => list(response, '<a>', 100_000), /more than 64 nested elements/],
  ['bytes', (response) => list(response, `<Key>${'x'.repeat(9 * mebibyte)}</Key>`, 1), /more than 8 MiB/],
  ['endless objects', (response) => endless(response, '<Contents/>'), /more than 200000 tags and attributes/],
  ['endless bytes', (response) => endless(response, 'x'), /more than 8 MiB/],
  [
    'refusals',
    (response) => endless(response.writeHead(403), '<Error><Code>AccessDenied</Code></Error>'),
    /more than 200000 tags and attributes/,
  ],
  [
    'empty pages',
    (response) =>
      list(response, '', 0, `<IsTruncated>true</IsTruncated><NextContinuationToken>${++page}</NextContinuationToken>`),
    /100 pages in a row that name no object/,
  ],
];

it.each(lists)('a list of too many or too deep %s fails its source alone, within 400 MB', async (_, answer, error) => {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const bucket = await SmallBucket.start();
  onTestFinished(() => bucket.close());
  bucket.put('clicks/a.ndjson', 'a1\n');
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const s3 = { bucket: 'logs', clicks: 'clicks/' };
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sources = [
    { source: 'bad', connector: 's3', base_url: address, secrets, s3 },
    { source: 'good', connector: 's3', base_url: bucket.url, secrets, s3 },
  ];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  const child = spawn(process.execPath, [...nodeArguments, program, data.root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { pulled, peak } = (await json(child.stdout)) as { pulled: object[]; peak: number };
  expect(pulled).toMatchObject([
    { source: 'bad', status: 'failed', error: expect.stringMatching(error) as string },
    { source: 'good', status: 'done', records: 1 },
  ]);
  expect(peak).toBeLessThan(400e6);
});

it('the longest page that a store of S3 gives is none too long', slow, async () => {
  const bucket = await SmallBucket.start();
  onTestFinished(() => bucket.close());
  const long = 'ж'.repeat(495);
  for (let key = 0; key < 1_000; key++) bucket.put(`clicks/${key}-${long}.tsv`, 'x');
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const source = { source: 'good', connector: 's3', base_url: bucket.url, secrets };
  await writeFile(
    data.sourcesFile,
    JSON.stringify({ sources: [{ ...source, s3: { bucket: 'logs', clicks: 'clicks/' } }] }),
    { mode: 0o600 },
  );
  const child = spawn(process.execPath, [...nodeArguments, program, data.root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pulled } = (await json(child.stdout)) as { pulled: object[] };
  expect(pulled).toMatchObject([{ source: 'good', status: 'done' }]);
});
