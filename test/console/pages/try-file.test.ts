import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { slow } from '../../support/slow.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { consoleOver, shownOf, type OpenConsole, type Shown } from './signed-in.ts';

const conversions = `Transaction ID;Click ID;Conversion Status;Datetime;Payout
t-1;c-1;approved;17/11/2026 10:00:00;1,50
t-2;c-2;pending;17/11/2026 11:00:00;2,00
t-3;c-3;approved;17/11/2026 12:00:00;1.000,25
Total;;;;1.003,75
`;

let data: DataDirectory;
let remove: () => Promise<void>;
let opened: OpenConsole;
let cookie: string;
const uploads = () => readdir(join(data.console, 'uploads'), { recursive: true });

beforeAll(async () => {
  ({ data, remove } = await temporaryData());
  // Of a console that was killed while it read a file.
  await mkdir(join(data.console, 'uploads', 'upload-left'), { recursive: true });
  await writeFile(join(data.console, 'uploads', 'upload-left', 'file'), conversions);
  opened = await consoleOver(data);
  cookie = await opened.signIn('operator');
});
afterAll(async () => {
  await opened.close();
  await remove();
});

beforeEach(() => opened.pass(60_000));

interface Sent {
  name?: string;
  fields?: Record<string, string>;
  headers?: Record<string, string>;
}

/** Sends a file as the form of the page does. */
async function send(
  content: string | Uint8Array,
  { name = 'list.csv', fields = {}, headers }: Sent = {},
): Promise<Shown> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob([Buffer.from(content)]), name);
  const own = headers ?? { cookie, 'sec-fetch-site': 'same-origin' };
  return shownOf(await fetch(`${opened.address}/try-file`, { method: 'POST', headers: own, body: form }));
}

/** A form that is sent by hand, so that it can break off; the answer comes when it is there. */
function open(agent?: Agent): { sending: ClientRequest; answered: Promise<IncomingMessage> } {
  const sending = request(`${opened.address}/try-file`, {
    method: 'POST',
    agent,
    headers: {
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'multipart/form-data; boundary=edge',
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    sending.on('response', resolve).on('error', reject),
  );
  answered.catch(() => undefined);
  return { sending, answered };
}

const opening = '--edge\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n';
const closing = '\r\n--edge--\r\n';

it('what a killed console left behind is removed at the start', async () => {
  expect(await uploads()).toEqual([]);
});

it('the page is there before anything is published, with a form for operators only', async () => {
  const asOperator = await (await opened.as('operator', 'olga'))('/try-file');
  expect(asOperator.status).toBe(200);
  expect(asOperator.markup).toContain('<a href="/try-file" aria-current="page">Try a file</a>');
  expect(asOperator.markup).toMatch(/<form method="post" action="\/try-file" enctype="multipart\/form-data">/);
  const asViewer = await (await opened.as('viewer'))('/try-file');
  expect([asViewer.status, asViewer.markup.includes('multipart')]).toEqual([200, false]);
  expect(asViewer.text).toContain('Viewers send no files');
});

describe('a file', () => {
  it('is shown with its columns, a mapping, its first rows and its rejects with what helps', async () => {
    const { status, text: shown, markup } = await send(conversions);
    expect(status).toBe(200);
    expect(shown).toContain('Format csv Bytes');
    expect(shown).toContain('Records 4 Read as conversions');
    expect(shown).toMatch(/Columns of the file Column Filled Examples Transaction ID 100 % t-1 \| t-2 \| t-3/);
    const mapping = /<pre class="sql" tabindex="0"><code>(.*?)<\/code><\/pre>/s.exec(markup)?.[1] ?? '';
    expect(JSON.parse(mapping.replaceAll('&quot;', '"'))).toMatchObject({
      match: 'conversions/NAME/**',
      fields: {
        conversion_id: 'Transaction ID',
        click_id: 'Click ID',
        status: { at: 'Conversion Status', words: { approved: 'credit', pending: 'pending' } },
        occurred_at: { at: 'Datetime', time: '%d/%m/%Y %H:%M:%S' },
        payout: { at: 'Payout', number: { decimal: ',', group: '.' } },
      },
    });
    expect(shown).toContain('its times have no offset');
    expect(shown).toMatch(/timestamp_without_offset \d 2 name the zone of its times/);
    expect(await uploads()).toEqual([]);
  });

  it('of our own fields needs no mapping, and its rows are shown', async () => {
    const row = { click_id: 'c', offer_id: 7, site_key: 's', user_id: 'u-1', clicked_at: '2026-11-18T10:00:00Z' };
    const { text: shown } = await send(`${JSON.stringify(row)}\n{"click_id":"d"}\n`, { name: 'a.ndjson' });
    expect(shown).toContain('Of the first 2 records 1 would be rejected.');
    expect(shown).toContain('No mapping is needed');
    expect(shown).toMatch(/The first rows as they would be .*clicked_at c 7 s u-1 2026-11-18T10:00:00Z/);
    expect(shown).toMatch(/missing_offer 1 2 map the network's own id as external_id/);
  });

  it('is read as its sender says, and the form keeps the choices', async () => {
    const { text: shown, markup } = await send(Buffer.from('Größe§id\n7§x\n', 'latin1'), {
      fields: { as: 'offers', encoding: 'windows-1252', delimiter: '' },
    });
    expect(shown).toContain('Read as offers');
    expect(markup).toContain('<option selected>offers</option>');
    expect(markup).toContain('name="encoding" value="windows-1252"');
    expect(markup).toContain('<details open>');
    expect((await send('a|b;c\n1|2;3\n', { fields: { as: 'clicks', delimiter: 'bar' } })).text).toContain('b;c');
  });

  it('that cannot be read says why', async () => {
    const { status, text: shown } = await send(Buffer.from('Größe;b\nä;1\nÿ', 'utf16le'));
    expect(status).toBe(200);
    expect(shown).toMatch(/It cannot be read as it is: bad_utf8 : .*format\.encoding/);
    expect((await send('')).status).toBe(200);
  });

  it('with a hostile name and hostile values stays text, and names no file of ours', async () => {
    const hostile = `"><script>alert(1)</script><img src=x>\u202Egnp.exe`;
    const { status, markup } = await send(`click_id,<b>x</b>\n"${hostile.replaceAll('"', '""')}",<i>y</i>\n`, {
      name: `../../../etc/${hostile}`,
      fields: { as: 'clicks', records: '', sheet: '"><u>' },
    });
    expect(status).toBe(200);
    const main = /<main.*<\/main>/s.exec(markup)?.[0] ?? '';
    expect(main).not.toMatch(/<(?:script|img|b|i|u)[ >]/);
    expect(main).not.toContain('\u202E');
    expect(main).toContain('&lt;script&gt;');
    expect(main).not.toContain(data.root);
    expect(await uploads()).toEqual([]);
  });
});

describe('is refused, and leaves nothing behind', () => {
  it.for<[what: string, sent: Sent, status: number, words: string]>([
    ['a form of nobody', { headers: { 'sec-fetch-site': 'same-origin' } }, 401, 'Sign in'],
    ['a form of another page', { headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'not sent by a page of the'],
    ['an unknown kind', { fields: { as: 'orders' } }, 422, 'There is no kind "orders"'],
    ['an unknown delimiter', { fields: { delimiter: 'constructor' } }, 422, 'There is no delimiter'],
    ['a header that is no number', { fields: { header: 'x' } }, 422, 'give the number of the row'],
    ['a NUL', { fields: { encoding: 'a\0b' } }, 400, 'NUL'],
    ['no file', { name: '' }, 422, 'choose one'],
    ['a name of an object', { fields: { ['__proto__']: 'x', constructor: 'y' } }, 400, 'load the page'],
    [
      'too many fields',
      { fields: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}`, ''])) },
      413,
      'load the page',
    ],
  ])('%s', async ([, sent, status, words]) => {
    const refused = await send(conversions, sent);
    expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(words)]);
    expect(await uploads()).toEqual([]);
  });

  it('a viewer', async () => {
    const viewer = await opened.signIn('viewer', 'vera');
    const refused = await send(conversions, { headers: { cookie: viewer, 'sec-fetch-site': 'same-origin' } });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('Operators only')]);
  });

  it('a form of another type', async () => {
    const refused = await fetch(`${opened.address}/try-file`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ file: conversions }),
    });
    expect([refused.status, await refused.text()]).toEqual([415, expect.stringContaining('a form with a file')]);
  });

  it('a file of more than 20 MB, whether or not its length is said', async () => {
    const large = randomBytes(1_000_000);
    const said = await send(Buffer.alloc(21_000_000, 'a,b\n'));
    expect([said.status, said.text]).toEqual([413, expect.stringContaining('`offerline inspect FILE`')]);
    const { sending, answered } = open();
    sending.write(opening);
    for (let sent = 0; sent < 25; sent++) sending.write(large);
    sending.end(closing);
    const answer = await answered;
    expect([answer.statusCode, await text(answer)]).toEqual([413, expect.stringContaining('larger than 20 MB')]);
    expect(await uploads()).toEqual([]);
  });

  it('a file of more than 20 MB on a connection that goes on: what is left of it is read, and the next form answered', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = open(agent);
    first.sending.write(opening);
    for (let sent = 0; sent < 60; sent++) first.sending.write(randomBytes(1_000_000));
    first.sending.end(closing);
    const next = open(agent);
    next.sending.end(closing);
    for (const [{ answered }, status] of [
      [first, 413],
      [next, 422],
    ] as const) {
      const answer = await answered;
      answer.resume();
      expect(answer.statusCode).toBe(status);
    }
    agent.destroy();
  });

  it('a form that breaks off, before its end or with its connection', async () => {
    const half = open();
    half.sending.end(`${opening}a,b\n1,`);
    const answer = await half.answered;
    expect([answer.statusCode, await text(answer)]).toEqual([
      400,
      expect.stringContaining('<h1>This form cannot be read</h1>'),
    ]);
    expect(await uploads()).toEqual([]);

    const aborted = open();
    aborted.sending.write(`${opening}a,b\n`);
    await expect.poll(uploads).toHaveLength(2);
    aborted.sending.destroy();
    await expect.poll(uploads).toEqual([]);
  });

  it('a third file at once, while the other two are received', async () => {
    const both = [open(), open()];
    for (const { sending } of both) sending.write(`${opening}click_id,site_key\n`);
    await expect.poll(uploads).toHaveLength(4);
    const refused = await send(conversions);
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('2 files are read just now')]);
    expect(refused.headers.get('retry-after')).toBe('1');
    for (const { sending } of both) sending.end(`c-1,s\n${closing}`);
    for (const { answered } of both) expect((await answered).statusCode).toBe(200);
    await expect.poll(uploads).toEqual([]);
    expect((await send(conversions)).status).toBe(200);
  });
});

it('of a small file that unpacks to very much the page reads as much as it allows', slow, async () => {
  const packed = gzipSync(Buffer.alloc(210_000_000, 'click_id,site_key\n'));
  const { status, text: shown } = await send(packed, { fields: { as: 'clicks' } });
  expect(status).toBe(200);
  expect(shown).toMatch(/unpacked_too_large : this page reads at most 200 MB .*offerline inspect FILE/);
  expect(await uploads()).toEqual([]);
});

it('a console that ends while it reads a file leaves nothing behind', async () => {
  const own = await temporaryData();
  const ending = await consoleOver(own.data);
  const signedIn = await ending.signIn('operator');
  const form = new FormData();
  form.set('file', new Blob([conversions]), 'a.csv');
  const headers = { cookie: signedIn, 'sec-fetch-site': 'same-origin' };
  const answer = fetch(`${ending.address}/try-file`, { method: 'POST', headers, body: form }).then(
    ({ status }) => status,
    () => 'gone',
  );
  const left = () => readdir(join(own.data.console, 'uploads')).catch(() => []);
  await expect.poll(left).toHaveLength(1);
  await ending.close();
  expect([503, 'gone']).toContain(await answer);
  expect(await left()).toEqual([]);
  await own.remove();
});
