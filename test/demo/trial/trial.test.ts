import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { exitCode, OfferlineError } from '../../../src/kit/errors/errors.ts';
import { subjectOf } from '../../../src/demo/trial/trial-subject.ts';
import type { TrialStep } from '../../../src/demo/trial/trial-report.ts';
import { openTracker } from '../../../src/demo/trial/tracker-access.ts';
import { tryOffer } from '../../../src/demo/trial/trial.ts';
import type { OfferTrial } from '../../../src/demo/trial/offer-trial.ts';
import { handedOver } from '../../../src/demo/trial/wait-for-results.ts';
import { endOf, usageErrorOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const token = 'a-token-that-north-keeps';
const site = (site_key: string, own: object = {}) => ({ site_key, site_secret: `the secret of ${site_key}`, ...own });
const to = (url: string) => ({ postback: { url } });
const sites = [
  site('mine'),
  site('partner', to('https://hooks.partner.com/cb')),
  site('demo', to('https://demo.example/cb')),
  // Refused by the guard of addresses, as any of this machine.
  site('local', to('http://127.0.0.1:9/cb')),
];

/** One source's offer published now: rows are stamped by the machine's clock. */
async function network(offer: object = {}): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(new Date(), { sites });
  // Half of an encoding, as addresses of real catalogs have it.
  const destination_url = 'https://adv.example/?off=50%&c={click_id}';
  await pipeline.landOffers('north', [
    { external_id: 'one', id: 1, title: 'One', payout: '2.5', destination_url, ...offer },
  ]);
  await pipeline.landOffers('south', [{ external_id: 'one', id: 2, title: 'Two', payout: '1', destination_url }]);
  await configureSource(pipeline, {});
  await pipeline.refresh(new Date().toISOString());
  return pipeline;
}

/** `postback`: what its mapping has beside the token. */
async function configureSource({ data }: PipelineUnderTest, postback: object): Promise<void> {
  const sources = [{ source: 'north', postback: { token, ...postback } }, { source: 'silent' }];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
}

const published = sharedPipeline(() => network());
const publishedPaused = sharedPipeline(() => network({ status: 'paused' }));
const publishedWithoutClickId = sharedPipeline(() => network({ destination_url: 'https://adv.example/' }));

interface SetUp {
  settings?: object;
  postback?: object;
}

async function trial(
  pipeline: PipelineUnderTest,
  siteKey: string,
  own: Partial<OfferTrial> = {},
  reachedBy: (tracker: OfferTrial['tracker']) => OfferTrial['tracker'] = (tracker) => tracker,
) {
  const { data } = pipeline;
  const settings = readSettings(data);
  const steps: TrialStep[] = [];
  const log = pino({ level: 'silent' });
  const tracker = await openTracker({ data, settings, log, at: { host: undefined, port: undefined } });
  try {
    const outcome = await tryOffer({
      data,
      settings,
      subject: await subjectOf(data, { offerId: 1, siteKey, eventId: undefined }),
      tracker: reachedBy(tracker),
      userId: 'test-user',
      deliver: false,
      schedule: 'none',
      refresh: async () => void (await pipeline.refresh(new Date().toISOString())),
      report: (step) => void steps.push(step),
      now: () => Date.now(),
      steady: () => performance.now(),
      stop: new AbortController().signal,
      ...own,
    }).catch((error: unknown) => error as OfferlineError);
    return { outcome, steps: steps.map(({ step, done }) => `${done ? '✓' : '–'} ${step}`) };
  } finally {
    await tracker.close();
  }
}

it('goes the whole circle and leaves no conversion, whatever the source’s dialect', slow, async () => {
  const own = { parameters: { click_id: 'cid', status: 'state' }, statuses: { sale: 'credit', void: 'reject' } };
  const pipeline = await published();
  await configureSource(pipeline, { always_200: true, reply: 'OK', ...own });
  const { outcome, steps } = await trial(pipeline, 'mine');
  expect(outcome).toMatchObject({
    click: { offer_id: 1, site_key: 'mine', user_id: 'test-user', sub1: 'track-test' },
    destination: { host: 'adv.example', target: expect.stringMatching(/^\/\?off=50%&c=[0-9a-z]{32}$/) as string },
    published: { status: 'credited', offer_id: 1, site_key: 'mine', payout: '2.500000' },
    figures: { before: { clicks: '0', earnings: '0' }, after: { clicks: '1', conversions: '1', earnings: '2.500000' } },
    postback: null,
    taken_back: '200',
  });
  expect(steps.slice(-2)).toEqual(['– postback', '✓ taken back']);
  expect(await pipeline.ask('SELECT status::VARCHAR AS status FROM conversions')).toEqual([{ status: 'rejected' }]);
  expect(await pipeline.ask('SELECT conversions FROM offer_stats_2d WHERE conversions > 0')).toEqual([]);
});

it.each([
  [
    'names no status, but reverses by an amount below zero',
    {
      fields: { click_id: 'user_id', transaction_id: { at: ['rewarded_txn_id', 'txn_id'] }, payout: 'payout' },
      reversal: { negative_payout: true },
    },
    { status: 'charged_back' },
  ],
  ['names no transaction', { fields: { click_id: 'sub', status: 'state' } }, { status: 'rejected' }],
])('leaves no conversion of a source whose mapping %s', slow, async (_name, own, left) => {
  const pipeline = await published();
  await configureSource(pipeline, own);
  const { outcome, steps } = await trial(pipeline, 'mine');
  expect(outcome).toMatchObject({ published: { status: 'credited' }, taken_back: '200' });
  expect(steps.at(-1)).toBe('✓ taken back');
  expect(await pipeline.ask('SELECT status::VARCHAR AS status FROM conversions')).toEqual([left]);
  expect(await pipeline.ask('SELECT conversions FROM offer_stats_2d WHERE conversions > 0')).toEqual([]);
});

it('sends nothing for a source that has no sign of a reversal, unless the click is all', slow, async () => {
  const pipeline = await published();
  await configureSource(pipeline, { fields: { click_id: 'c', transaction_id: 't' } });
  const { outcome, steps } = await trial(pipeline, 'mine');
  expect(outcome).toMatchObject({
    message: expect.stringContaining('give "reversal"') as string,
    exitCode: exitCode.usage,
  });
  expect(steps).toEqual([]);
  expect((await trial(pipeline, 'partner')).steps).toEqual(['✓ link', '✓ destination', '✓ click', '– conversion']);
});

it('tells no real publisher unasked: the conversion is not reported', slow, async () => {
  const pipeline = await published();
  const { outcome, steps } = await trial(pipeline, 'partner');
  expect(outcome).toMatchObject({ conversion: null, postback: null, taken_back: null });
  expect(steps).toEqual(['✓ link', '✓ destination', '✓ click', '– conversion']);
  await pipeline.refresh(new Date().toISOString());
  expect(await pipeline.ask('SELECT conversion_id FROM conversions')).toEqual([]);
  expect(await pipeline.ask('SELECT webhook_id FROM postbacks')).toEqual([]);
});

it('lets a publisher be told where that is asked for: of the credit, and of its reject', slow, async () => {
  const pipeline = await published();
  const { outcome } = await trial(pipeline, 'local', { deliver: true });
  expect(outcome).toMatchObject({ postback: { attempts: 1, last_error: 'refused_address' }, taken_back: '200' });
  expect(await pipeline.ask('SELECT postbacks.kind::VARCHAR AS event FROM postbacks ORDER BY 1')).toEqual([
    { event: 'credit' },
    { event: 'reject' },
  ]);
});

it("shows a demo's postback, and how far it came", slow, async () => {
  const pipeline = await published();
  const { outcome } = await trial(pipeline, 'demo');
  expect(outcome).toMatchObject({ postback: { reward: '2.5', attempts: 1, last_error: 'refused_address' } });
});

it('waits until the click lies where a refresh finds it, not its conversion alone', async () => {
  await using pipeline = await PipelineUnderTest.bare(new Date());
  const { data } = pipeline;
  let waited = 0;
  const log = async (kind: string, name: string, row: object) => {
    const folder = join(data.landing, kind, 'tracker', new Date().toISOString().slice(0, 10));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), `${JSON.stringify(row)}\n`);
    return join(folder, name);
  };
  await log('conversions', '1.ndjson', { conversion_id: 'north:T1', click_id: 'c1', kind: 'credit' });
  const clicks = await log('clicks', '1.ndjson.part', { click_id: 'c1' });
  const wait = (clock: () => number) =>
    handedOver(
      {
        data,
        tracker: { address: 'it' },
        now: () => Date.now(),
        steady: clock,
        stop: new AbortController().signal,
      } as OfferTrial,
      'c1',
      'north:T1',
    );
  await expect(wait(() => (waited += 60_000))).rejects.toThrow('did not hand its logs over');
  await rename(clicks, clicks.replace('.part', ''));
  expect(await wait(() => waited)).toContain('the logs are in');
});

it('takes back what was credited where the refresh fails, and where nobody wants to wait', slow, async () => {
  const pipeline = await published();
  const busy = new OfferlineError('busy', exitCode.busy);
  expect((await trial(pipeline, 'mine', { refresh: () => Promise.reject(busy) })).outcome).toBe(busy);
  const stopped = await trial(pipeline, 'mine', { stop: AbortSignal.abort() });
  expect(stopped.outcome).toMatchObject({ message: 'the test was stopped before its last step' });
  expect(stopped.steps.at(-1)).toBe('✓ taken back');
  await pipeline.refresh(new Date().toISOString());
  expect(
    await pipeline.ask('SELECT status::VARCHAR AS status, count(*)::INTEGER AS n FROM conversions GROUP BY 1'),
  ).toEqual([{ status: 'rejected', n: 2 }]);
});

it('says first what went wrong, then that the conversion could not be taken back', slow, async () => {
  const pipeline = await published();
  const { outcome, steps } = await trial(pipeline, 'mine', {}, (tracker) => ({
    ...tracker,
    async handOver() {
      await tracker.close();
      throw new OfferlineError('its port is in use.', exitCode.usage);
    },
  }));
  expect(outcome).toMatchObject({
    message: expect.stringMatching(
      /^its port is in use\. Then north:test-\w+ could not be taken back and counts: report a reject .*ECONNREFUSED/,
    ) as string,
    exitCode: exitCode.usage,
  });
  expect(steps.at(-1)).toBe('✓ conversion');
});

it('takes back a credit whose answer was lost', slow, async () => {
  const pipeline = await published();
  let reports = 0;
  let behind = '';
  const passOn = async (request: IncomingMessage, response: ServerResponse) => {
    const { authorization = '', 'user-agent': agent = '' } = request.headers;
    const headers = { authorization, 'user-agent': agent };
    const answer = await fetch(behind + request.url, { headers, redirect: 'manual' });
    if (request.url?.startsWith('/postback/') === true && ++reports === 1) response.destroy();
    else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  };
  await using front = createServer((request, response) => void passOn(request, response)).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  const { outcome, steps } = await trial(pipeline, 'mine', {}, (tracker) => {
    behind = tracker.address;
    return { ...tracker, address: `http://127.0.0.1:${port}` };
  });
  expect(outcome).toMatchObject({ message: 'other side closed' });
  expect(steps.at(-1)).toBe('✓ taken back');
  expect(reports).toBe(2);
});

it.each([
  ['a source that knows none of its clicks', publishedWithoutClickId, {}, 'does not get the click'],
  ['a paused offer', publishedPaused, {}, 'answered with 410'],
  [
    'a fallback',
    publishedPaused,
    { settings: { tracker: { fallback_url: 'https://us.example/' } } },
    'sent to a fallback_url',
  ],
  ['a list without this machine', published, { postback: { allow: ['203.0.113.7'] } }, 'have the address'],
])('says what to mend: %s', slow, async (_name, begin, { settings = {}, postback = {} }: SetUp, message) => {
  const pipeline = await begin();
  await pipeline.configure(settings);
  await configureSource(pipeline, postback);
  const { outcome } = await trial(pipeline, 'mine');
  expect(outcome).toMatchObject({ message: expect.stringContaining(message) as string, exitCode: exitCode.failed });
});

it('the command says what is missing before anything is sent', async () => {
  const pipeline = await published();
  const { root } = pipeline.data;
  const usage = (...words: string[]) => usageErrorOf(root, 'track', 'test', ...words);
  expect(await usage('1', '--site', 'nobody')).toContain('there is no site nobody');
  expect(await usage('9', '--site', 'mine')).toContain('there is no offer 9');
  expect(await usage('2', '--site', 'mine')).toContain('"postback": {"token": {"env": "NAME"}}');
  expect(await usage('1', '--site', 'mine', '--event', 'x')).toContain('has no event x');
  expect((await endOf(root, 'track', 'test', '1')).code).toBe(exitCode.usage);
  const tried = await endOf(root, 'track', 'test', '1', '--site', 'partner');
  expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ click') as string });
  expect(tried.stdout).toContain('it would be sent to hooks.partner.com; --deliver allows that');
  expect(tried.stdout + tried.stderr).not.toContain(token);
});

it('asks the tracker that runs, where it says that it listens, and says so where none answers', async () => {
  const pipeline = await published();
  const { data } = pipeline;
  const log = pino({ level: 'silent' });
  const open = (port?: number) =>
    openTracker({ data, settings: readSettings(data), log, at: { host: undefined, port } });
  const first = await open();
  await writeFile(data.trackerAddressFile, JSON.stringify({ address: first.address }));
  try {
    expect(await open()).toMatchObject({ isOwn: false, address: first.address });
    await expect(open(1)).rejects.toThrow('none answers at http://127.0.0.1:1: name its address');
  } finally {
    await first.close();
  }
  const own = await open();
  expect(own.isOwn).toBe(true);
  await own.close();
});
