import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slow } from '../../support/slow.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { startService, type RunningService } from '../../support/running-service.ts';

/** An address that is refused before anything is sent. */
const postback = { url: 'http://127.0.0.1:1/told', method: 'GET' };
interface TestSite {
  site_key: string;
  site_secret: string;
}

const wall = { site_key: 'wall', site_secret: 'the-secret-of-the-wall', commission: 0.1, reward_rate: 100, postback };
const other = { site_key: 'other', site_secret: 'the-secret-of-the-other', commission: 0.25, reward_rate: 10 };
const moved = { ...wall, site_key: 'moved', postback: { ...postback, pending: true } };
const late = { site_key: 'late', site_secret: 'the-secret-of-the-late', status: 'pending' };

let pipeline: PipelineUnderTest;
let running: RunningService;
let now = Date.UTC(2026, 10, 20, 12);
let begun: { walked: string[]; cursor: string };

const click = (id: string, site: string, day: string, more: object = {}) => ({
  click_id: id,
  offer_id: 7,
  site_key: site,
  user_id: `user of ${id}`,
  clicked_at: `2026-11-${day}T10:00:00Z`,
  ...more,
});
const event = (id: string, clickId: string, kind: string, at: string, more: object = {}) => ({
  conversion_id: id,
  click_id: clickId,
  kind,
  occurred_at: `2026-11-${at}Z`,
  ...more,
});

function path(name: string, { site_key, site_secret }: TestSite, parameters: object = {}): string {
  return `/c/api/v1/${name}?${new URLSearchParams({ site_key, site_secret, ...parameters }).toString()}`;
}

/** The cookie of a site that is signed in to the portal. */
async function signedIn({ site_key, site_secret }: TestSite): Promise<string> {
  const answer = await running.get('/portal/sign-in', {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: running.address },
    body: new URLSearchParams({ site_key, site_secret }),
  });
  expect(answer.status).toBe(303);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Far enough from the request before that no limit is reached. */
const ask = (...of: Parameters<typeof path>): Promise<any> => {
  now += 61_000;
  return running.json(path(...of));
};

const walk = async (name: 'conversions' | 'postbacks', site: TestSite, parameters: object = {}) => {
  const rows: any[] = [];
  for (let cursor: object = {}; ;) {
    const page = await ask(name, site, { limit: 2, ...parameters, ...cursor });
    rows.push(...page[name]);
    expect(page.has_more).toBe(page.next_cursor !== null);
    if (page.next_cursor === null) return rows;
    cursor = { cursor: page.next_cursor };
  }
};

beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(now), { sites: [wall, other, late, moved] });
  await pipeline.landOffers('net', [{ id: 7, external_id: 'e', title: 'Game', description: '', payout: '2.50005' }]);
  await pipeline.landLog('clicks', 'ndjson', [
    click('a', 'wall', '17', { sub1: 'x', sub2: 'y' }),
    click('b', 'wall', '18'),
    click('c', 'wall', '19', { offer_id: 99 }),
    click('d', 'other', '17', { sub1: 'secret' }),
    click('m', 'moved', '17'),
  ]);
  await pipeline.landLog('conversions', 'ndjson', [
    event('v1', 'a', 'credit', '17T11:00:00'),
    event('v2', 'a', 'credit', '18T11:00:00', { payout: '0.00005' }),
    event('v3', 'b', 'credit', '18T12:00:00'),
    event('v4', 'c', 'credit', '19T12:00:00', { payout: '4' }),
    event('v5', 'b', 'reject', '19T13:00:00', { reason: 'no "install"' }),
    event('w1', 'd', 'credit', '17T11:00:00', { payout: '4' }),
    event('w2', 'd', 'pending', '16T11:00:00', { payout: '5' }),
    event('x1', 'm', 'pending', '18T11:00:00', { payout: '4' }),
    event('x2', 'm', 'pending', '18T11:00:00', { payout: '4' }),
  ]);
  await pipeline.refresh('2026-11-19T12:00:00Z', { clock: '2026-11-19T14:00:00Z' });
  running = await startService(pipeline.data, {}, () => now);
  const first = await ask('conversions', wall, { limit: 2 });
  begun = { walked: first.conversions.map((row: any) => row.conversion_id), cursor: first.next_cursor };
  await pipeline.landLog('clicks', 'ndjson', [click('e', 'wall', '18')]);
  await pipeline.landLog('conversions', 'ndjson', [
    event('v1', 'a', 'chargeback', '20T09:00:00', { reason: 'fraud' }),
    event('v0', 'e', 'credit', '18T13:00:00'),
  ]);
  await pipeline.refresh('2026-11-20T11:00:00Z');
  await running.service.poll();
});

afterAll(async () => {
  await running.service.close();
  await pipeline[Symbol.asyncDispose]();
});

test('the statement has each day after commission, with what was taken back on the day of its credit', async () => {
  const day = { clicks: 0, conversions: 0, reversed: 0, rejected: 0, earnings: 0, rewards: 0 };
  expect(await ask('statement', wall)).toStrictEqual({
    success: true,
    version: 'v1',
    as_of: '2026-11-20T11:00:00+00:00',
    days: [
      { ...day, day: '2026-11-17', clicks: 1, reversed: 1 },
      // 5.00015 gross by 0.9 once, and two rewards of 225.0045 and 0.0045.
      { ...day, day: '2026-11-18', clicks: 2, conversions: 3, earnings: 4.5001, rewards: 450.0135 },
      { ...day, day: '2026-11-19', rejected: 1 },
    ],
    totals: { clicks: 3, conversions: 3, reversed: 1, rejected: 1, earnings: 4.5001, rewards: 450.0135 },
  });
  const bounded = await ask('statement', wall, { from: '2026-11-18', to: '2026-11-18' });
  expect(bounded.days.map((each: any) => each.day)).toEqual(['2026-11-18']);
  expect(bounded.totals).toMatchObject({ clicks: 2, rejected: 0 });
  expect(await ask('statement', wall, { from: '2026-11-19', to: '2026-11-17' })).toMatchObject({ days: [] });
  // Without a postback: by the terms of now.
  expect((await ask('statement', other)).totals).toMatchObject({ clicks: 1, earnings: 3, rewards: 30 });
});

test('conversions say what they brought, and why they were taken back', async () => {
  const rows = await walk('conversions', wall);
  expect(rows.map(({ conversion_id, status }) => [conversion_id, status])).toEqual([
    ['v0', 'credited'],
    ['v1', 'charged_back'],
    ['v2', 'credited'],
    ['v3', 'credited'],
    ['v4', 'unattributed'],
    ['v5', 'rejected'],
  ]);
  expect(rows[1]).toStrictEqual({
    conversion_id: 'v1',
    click_id: 'a',
    offer_id: 7,
    offer_title: 'Game',
    event_id: null,
    user_id: 'user of a',
    sub1: 'x',
    sub2: 'y',
    status: 'charged_back',
    payout: 2.25,
    reward: 225.0045,
    clicked_at: '2026-11-17T10:00:00+00:00',
    occurred_at: '2026-11-17T11:00:00+00:00',
    credited_at: '2026-11-17T11:00:00+00:00',
    reversed_at: '2026-11-20T09:00:00+00:00',
    reason: 'fraud',
    changed_at: '2026-11-20T12:00:00+00:00',
  });
  expect(rows[4]).toMatchObject({
    offer_id: null,
    payout: null,
    reward: null,
    changed_at: '2026-11-19T14:00:00+00:00',
  });
  expect(rows[5]).toMatchObject({ credited_at: null, reason: 'no "install"', reward: 225.0045 });
});

test('what is announced is listed as pending, with what it would bring, and counts on no day', async () => {
  expect(await walk('conversions', other, { status: 'pending' })).toMatchObject([
    { conversion_id: 'w2', payout: 3.75, reward: 37.5, credited_at: null, reversed_at: null, reason: null },
  ]);
  expect((await ask('statement', other)).days.map((each: any) => each.day)).toEqual(['2026-11-17']);
  // Nothing is sent unless the site asks for it.
  expect(await walk('postbacks', other)).toEqual([]);
});

test.each([
  [{ status: 'rejected' }, ['v5']],
  [{ user_id: 'user of b' }, ['v3', 'v5']],
  [{ click_id: 'd' }, []],
  [{ from: '2026-11-18', to: '2026-11-18' }, ['v0', 'v2', 'v3']],
  [{ to: '2026-11-18', status: 'credited' }, ['v0', 'v2', 'v3']],
  // Stamped ahead of the first run, late for the second, and late for both.
  [{ changed_since: '2026-11-19T12:30:00Z' }, ['v0', 'v1', 'v2', 'v3', 'v4', 'v5']],
  [{ changed_since: '2026-11-19T14:00:00.000001Z' }, ['v0', 'v1']],
  [{ changed_since: '2026-11-20T12:00:00.000001Z' }, []],
])('conversions by %o', async (parameters, ids) => {
  expect((await walk('conversions', wall, parameters)).map((row) => row.conversion_id)).toEqual(ids);
});

test('a walk goes on in the next snapshot, and what it missed has changed since its first page', async () => {
  expect(begun.walked).toEqual(['v1', 'v2']);
  const rest = await ask('conversions', wall, { cursor: begun.cursor });
  expect(rest.conversions.map((row: any) => row.conversion_id)).toEqual(['v3', 'v4', 'v5']);
  expect(rest).toMatchObject({ as_of: '2026-11-20T11:00:00+00:00', next_changed_since: '2026-11-19T12:00:00+00:00' });
  const changed = await walk('conversions', wall, { changed_since: rest.next_changed_since });
  expect(changed.map((row) => row.conversion_id)).toEqual(expect.arrayContaining(['v0', 'v1']));
});

test('postbacks have their state and each attempt', async () => {
  const rows = await walk('postbacks', wall);
  // One that the second run has written, too.
  expect(rows.map(({ conversion_id, event: kind }) => `${conversion_id} ${kind}`).toSorted()).toEqual([
    'v0 credit',
    'v1 chargeback',
    'v1 credit',
    'v2 credit',
    'v3 credit',
    'v5 reject',
  ]);
  const tried = rows.find((row) => row.conversion_id === 'v2');
  expect(tried).toMatchObject({
    event: 'credit',
    click_id: 'a',
    offer_id: 7,
    user_id: 'user of a',
    reward: 0.0045,
    occurred_at: '2026-11-18T11:00:00+00:00',
    written_at: '2026-11-19T12:00:00+00:00',
    state: 'pending',
    delivered_at: null,
  });
  const first = rows.find((row) => row.conversion_id === 'v1' && row.event === 'credit');
  expect(first.kept_attempts[0]).toMatchObject({ attempt: 1, status: null, error: expect.any(String) });
  expect(await ask('postbacks', wall, { state: 'delivered' })).toMatchObject({ postbacks: [], next_cursor: null });
  const written = await walk('postbacks', wall, { from: '2026-11-20', to: '2026-11-20' });
  expect(written.map(({ conversion_id }): string => conversion_id).toSorted()).toEqual(['v0', 'v1', 'v5']);
  expect(await walk('postbacks', other)).toEqual([]);
});

/** The page's only example in a language. */
function example(language: string): string {
  const page = readFileSync(new URL('../../../src/serve/publishers.md', import.meta.url), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith('Your own figures\n')) ?? '';
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(section)?.[1] ?? '';
}

test.for([
  [
    'php',
    ['-n', '-r'],
    (code: string) =>
      `${code.replace('<?php', '')} [$rows, $since] = changed_conversions($argv[1], $argv[2], $argv[3], $argv[4]);
       $day = array_filter($rows, fn ($row) => $row['status'] === 'credited' && str_starts_with($row['occurred_at'], '2026-11-18'));
       echo json_encode([array_keys($rows), $since, round(array_sum(array_column($day, 'reward')), 4)]);`,
  ],
  [
    'python',
    ['-c'],
    (code: string) =>
      `${code}\nimport sys\nrows, since = changed_conversions(*sys.argv[1:])
day = [row["reward"] for row in rows.values() if row["status"] == "credited" and row["occurred_at"].startswith("2026-11-18")]
print(json.dumps([list(rows), since, float(sum(day))]))`,
  ],
] as const)(
  'the example in %s keeps a copy, whose rewards of a day are the statement’s',
  async ([language, before, program], { skip }) => {
    const interpreter = language === 'python' ? 'python3' : language;
    if (spawnSync(interpreter, ['--version']).error !== undefined) skip(`there is no ${interpreter} here`);
    now += 3_600_000;
    const changed = async (since: string, { site_key, site_secret }: TestSite = wall) => {
      const given = [running.address, site_key, site_secret, since];
      const { stdout } = await promisify(execFile)(interpreter, [...before, program(example(language)), ...given]);
      return JSON.parse(stdout) as unknown[];
    };
    const next = '2026-11-20T11:00:00+00:00';
    expect(await changed('2000-01-01')).toEqual([['v0', 'v1', 'v2', 'v3', 'v4', 'v5'], next, 450.0135]);
    expect((await changed(next)).slice(0, 2)).toEqual([['v0', 'v1'], next]);
    // What is refused is no end of the list.
    await expect(changed(next, { ...wall, site_secret: 'x' })).rejects.toMatchObject({ code: expect.any(Number) });
  },
);

test('the example in a shell shows the statement', async ({ skip }) => {
  if (spawnSync('curl', ['--version']).error !== undefined) skip('there is no curl here');
  now += 3_600_000;
  const env = { ...process.env, BASE: running.address, SITE_KEY: wall.site_key, SITE_SECRET: wall.site_secret };
  const { stdout } = await promisify(execFile)('sh', ['-ec', example('sh')], { env });
  expect(JSON.parse(stdout)).toEqual(await ask('statement', wall, { from: '2026-11-01', to: '2026-11-30' }));
});

describe('credentials, limits and errors are those of Variant C', () => {
  test.each(['statement', 'conversions', 'postbacks'])('%s', async (name) => {
    now += 3_600_000;
    expect((await running.json(path(name, { ...wall, site_secret: 'x' }), 401)).error.code).toBe('INVALID_CREDENTIALS');
    expect((await running.json(path(name, late), 403)).error.code).toBe('SITE_PENDING');
    expect((await running.json(path(name, wall, { from: '2026-02-30' }), 422)).error.code).toBe('INVALID_DATE');
    const bare = await running.get(path(name, wall).replace('/c/', '/'));
    expect(bare.status).toBe(200);
    expect(bare.headers.get('x-ratelimit-limit')).toBe('60');
    expect(bare.headers.get('x-ratelimit-remaining')).toBe('58');
    expect(bare.headers.get('x-api-version')).toBe('1.0');
    const again = await running.get(path(name, wall), { headers: { 'if-none-match': bare.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    // The bucket of offers is another one.
    expect((await running.get(path('offers', wall))).headers.get('x-ratelimit-remaining')).toBe('9');
  });

  test('the 61st request of an hour is refused', async () => {
    now += 3_600_000;
    const statuses = Array.from(
      { length: 60 },
      async () => (await running.get(path('statement', wall, { from: 'x' }))).status,
    );
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([422]));
    const refused = await running.get(path('conversions', wall));
    expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
    now += 3_600_000;
  });
});

describe('a cursor', () => {
  const refused = async (name: string, site: TestSite, parameters: object) => {
    now += 61_000;
    const { error } = await running.json(path(name, site, parameters), 422);
    expect(error).toMatchObject({ code: 'INVALID_PARAMETER', message: expect.stringContaining('cursor') });
  };

  test('holds for its site, its list and its filters only', async () => {
    const { next_cursor: cursor } = await ask('conversions', wall, { limit: 1 });
    await refused('conversions', other, { cursor });
    await refused('postbacks', wall, { cursor });
    await refused('conversions', wall, { cursor, status: 'credited' });
    await refused('conversions', wall, { cursor, from: '2026-11-18' });
    for (const made of ['x', 'W10', 'bnVsbA', Buffer.from('["a","",1]').toString('base64url')])
      await refused('conversions', wall, { cursor: made });
  });

  test('that somebody makes shows nothing of another site, as a program or on a page', slow, async () => {
    const cookie = await signedIn(wall);
    const foreign = ['w1', 'd', 'secret', 'user of d'];
    const after = fc.constantFrom('', 'v', 'w', 'w0', "' OR true --");
    const parameters = fc.record(
      {
        user_id: fc.constantFrom('user of a', 'user of d', "' OR ''='"),
        click_id: fc.constantFrom('a', 'd', "d' --"),
        status: fc.constantFrom('credited', 'rejected'),
        from: fc.constantFrom('2026-11-17', '0000-01-01'),
        changed_since: fc.constantFrom('2026-11-17', '0000-01-01'),
      },
      { requiredKeys: [] },
    );
    let forged = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('conversions', 'postbacks', 'statement'),
        parameters,
        after,
        fc.constantFrom('w1', 'd', "' OR ''='"),
        async (name, asked, from, id) => {
          const bodyOf = async (more: object) => {
            now += 61_000;
            const query = new URLSearchParams({ ...asked, ...more }).toString();
            const page = name === 'statement' ? '/portal' : `/portal/${name}`;
            const shown = await (await running.get(`${page}?${query}`, { headers: { cookie } })).text();
            // What was asked for stands in the fields of the page.
            expect(shown).toContain('</main>');
            for (const cell of ['w1', 'd', 'secret', 'user of d']) expect(shown).not.toContain(`<td>${cell}</td>`);
            return (await running.get(path(name, wall, { limit: 1, ...asked, ...more }))).text();
          };
          const first = await bodyOf({});
          const order = await running.get(`/c/api/v1/postbacks/${encodeURIComponent(id)}/resend`, {
            method: 'POST',
            body: new URLSearchParams({ ...wall, ...asked } as unknown as Record<string, string>),
          });
          expect(order.status).toBe(404);
          const { next_cursor: cursor } = JSON.parse(first) as { next_cursor?: string | null };
          let second = '';
          if (cursor) {
            const [digest, , since] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
            second = await bodyOf({ cursor: Buffer.from(JSON.stringify([digest, from, since])).toString('base64url') });
            if (second.includes('"success":true')) forged++;
          }
          expect(foreign.filter((text) => (first + second).includes(JSON.stringify(text)))).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
    expect(forged).toBeGreaterThan(10);
  });
});

test('a changed rate alone changes the conversions of its site, rules for its offers do not', async () => {
  const sites = [{ ...wall, offers: { deny: [{ category: 'none' }] } }, { ...other, reward_rate: 20 }, late];
  await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites }));
  await pipeline.refresh('2026-11-20T11:30:00Z');
  await running.service.poll();
  now += 3_600_000;
  const since = { changed_since: '2026-11-20T11:00:00Z' };
  const changed_at = '2026-11-20T11:30:00+00:00';
  expect(await walk('conversions', other, since)).toMatchObject([
    { conversion_id: 'w1', reward: 60, changed_at },
    { conversion_id: 'w2', reward: 75, changed_at },
  ]);
  // The run before read a later clock, by which these two count as changed.
  expect((await walk('conversions', wall, since)).map((row) => row.conversion_id)).toEqual(['v0', 'v1']);
});

test('the reward of an announcement that was sent is not that of its credit', async () => {
  const sites = [wall, { ...moved, postback: undefined, reward_rate: 10 }];
  await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites }));
  await pipeline.landLog('conversions', 'ndjson', [event('x1', 'm', 'credit', '20T10:00:00', { payout: '5' })]);
  await pipeline.refresh('2026-11-20T11:45:00Z');
  await running.service.poll();
  now += 3_600_000;
  expect((await walk('postbacks', moved)).map((row) => [row.event, row.reward])).toEqual([
    ['pending', 360],
    ['pending', 360],
  ]);
  expect(await walk('conversions', moved)).toMatchObject([
    { conversion_id: 'x1', status: 'credited', payout: 4.5, reward: 45 },
    { conversion_id: 'x2', status: 'pending', payout: 3.6, reward: 360 },
  ]);
  expect((await ask('statement', moved)).totals).toMatchObject({ conversions: 1, rewards: 45 });
});
