import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { startService, type RunningService } from '../support/running-service.ts';
import { TrackerUnderTest } from '../tracker/tracker-under-test.ts';
import { slow } from '../support/slow.ts';

const guide = readFileSync(new URL('../../src/serve/publishers.md', import.meta.url), 'utf8');
const section = guide.split('## The first fifteen minutes\n')[1]?.split(/^## /m)[0] ?? '';
const token = 'a-token-of-the-source-0123456789';
/** Of the links; the tracker changes its port with each of its starts. */
const tracking = 'https://track.example';

const languages = {
  php: {
    interpreter: 'php',
    receive: (port: string) => ['-n', '-S', `127.0.0.1:${port}`, 'walk.php'],
    run: ['-n', 'walk.php'],
  },
  python: { interpreter: 'python3', receive: (port: string) => ['walk.py', 'receive', port], run: ['walk.py'] },
} as const;
type Language = keyof typeof languages;

/** Some minutes behind the machine's clock, which scripts compare a postback's time with, up to five minutes. */
let now: number;
let pipeline: PipelineUnderTest;
let tracker: TrackerUnderTest;
let running: RunningService;

beforeEach(async () => {
  now = Date.now() - 200_000;
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  pipeline = await PipelineUnderTest.create(new Date(now));
  tracker = await TrackerUnderTest.start({
    data: pipeline.data,
    sites: [],
    sources: [{ source: 'net', postback: { token } }],
  });
  const offer = { id: 1, external_id: 'one', title: 'One', payout: '1.2345' };
  await pipeline.landOffers('net', [{ ...offer, destination_url: 'https://advertiser.example/?c={click_id}' }]);
  await pipeline.refresh(new Date(now).toISOString());
  running = await startService(pipeline.data, { tracking_url: tracking }, () => now, process.env);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await running.service.close();
  await tracker.stop();
  await pipeline[Symbol.asyncDispose]();
});

/**
 * A run ten seconds after the one before, over what the tracker has taken so far; it sends what is due, and the service
 * takes it up.
 */
async function refresh(): Promise<void> {
  now += 10_000;
  tracker.now = now;
  await tracker.restart();
  await pipeline.refresh(new Date(now).toISOString());
  await running.service.poll();
}

/** The guide's script with pages of two, so that there are several. */
function scriptIn(language: Language): string {
  const blocks = [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
  expect(blocks, language).toHaveLength(1);
  const script = blocks[0]?.[1] ?? '';
  expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  const paged = script.replace(/\b2000\b/, '2');
  expect(paged).not.toBe(script);
  return paged;
}

/** A publisher with the script of the guide, as it is but for the length of pages. */
class Walker {
  readonly #language: (typeof languages)[Language];
  readonly #folder = mkdtempSync(join(tmpdir(), 'walk-'));
  readonly site;
  #receiver: ChildProcessByStdio<null, Readable, Readable> | undefined;
  address = '';
  printed = '';

  constructor(language: Language) {
    this.#language = languages[language];
    this.site = { site_key: `site of ${language}`, site_secret: `secret of ${language} + 0123456789` };
    writeFileSync(join(this.#folder, language === 'php' ? 'walk.php' : 'walk.py'), scriptIn(language));
    onTestFinished(async () => {
      await this.away();
      rmSync(this.#folder, { recursive: true });
    });
  }

  /** Starts the receiver, on the port that it had before. */
  async receive(): Promise<void> {
    const { interpreter, receive } = this.#language;
    const port = this.address === '' ? '0' : new URL(this.address).port;
    const receiver = spawn(interpreter, receive(port), { ...this.#options(), stdio: ['ignore', 'pipe', 'pipe'] });
    this.#receiver = receiver;
    const { promise, resolve } = Promise.withResolvers<string>();
    for (const stream of [receiver.stdout, receiver.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        this.printed += piece;
        const [, listening] = /(?:127\.0\.0\.1:|at port )(\d+)\b[^]*\n/.exec(this.printed) ?? [];
        if (listening !== undefined) resolve(`http://127.0.0.1:${listening}`);
      });
    }
    void once(receiver, 'close').then(() => resolve(`it ended: ${this.printed}`));
    this.address = await promise;
  }

  /** Ends the receiver. */
  async away(): Promise<void> {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    if (receiver === undefined) return;
    const closed = once(receiver, 'close');
    if (receiver.exitCode === null) receiver.kill();
    await closed;
  }

  async run(...words: string[]): Promise<{ code: number; lines: string[]; said: string }> {
    const { interpreter, run } = this.#language;
    const child = spawn(interpreter, [...run, ...words], { ...this.#options(), stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: code as number, lines: stdout.trim().split('\n'), said: stderr };
  }

  /** Sends the receiver a postback of one's own making; returns the status. */
  async send(webhookId: string, fields: object, own: Record<string, string> = {}): Promise<number> {
    const body = JSON.stringify(fields);
    const sent = own['webhook-timestamp'] ?? String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', this.site.site_secret)
      .update(`${webhookId}.${sent}.${body}`)
      .digest('base64');
    const headers = {
      'webhook-id': webhookId,
      'webhook-timestamp': sent,
      'webhook-signature': `v1,${signature}`,
      ...own,
    };
    return (await fetch(this.address, { method: 'POST', body, headers })).status;
  }

  #options() {
    const { site_key: SITE_KEY, site_secret: SITE_SECRET } = this.site;
    const env = { ...process.env, BASE: running.address, SITE_KEY, SITE_SECRET };
    return { cwd: this.#folder, env };
  }
}

it.for(Object.keys(languages) as Language[])(
  'the walk in %s goes from the secret to a reward and a reconciled day',
  slow,
  async (language, { skip }) => {
    const { interpreter } = languages[language];
    if (spawnSync(interpreter, ['--version']).error !== undefined) {
      console.log(`the walk in ${language} is not run: there is no ${interpreter} here`);
      skip(`there is no ${interpreter} here`);
    }
    const walker = new Walker(language);
    await walker.receive();
    const { site_key: key } = walker.site;
    const postback = { url: `${walker.address}/hook`, method: 'POST' };
    tracker.writeSites([{ ...walker.site, commission: 0.1, reward_rate: 7, postback }]);
    await refresh();

    // The feed, and a link of it that the tracker answers.
    const linked = await walker.run('link', 'a user/1');
    expect(linked.said).toContain('1 1.11');
    const [link = ''] = linked.lines;
    expect(link).toBe(
      `${tracking}/redirect/manual-offer/1/user/a%20user%2F1/site/${encodeURIComponent(key)}?sub1=walk`,
    );
    const clickOf = async (user: string): Promise<string> => {
      const { status, headers } = await tracker.ask(link.slice(tracking.length).replace('a%20user%2F1', user));
      expect(status).toBe(302);
      return new URL(headers.location ?? '').searchParams.get('c') ?? '';
    };

    // A test postback, which is verified; with nobody there it is not.
    expect(await walker.run('test')).toMatchObject({
      code: 0,
      lines: [expect.stringMatching(/^verified in \d+ ms: /)],
    });
    await walker.away();
    const unheard = await walker.run('test');
    expect([unheard.code, unheard.said]).toEqual([1, expect.stringContaining('not verified')]);
    await walker.receive();

    // Conversions of the tracker's clicks, more than a page of them.
    const clicks = [await clickOf('ann'), await clickOf('ben'), await clickOf('cy'), await clickOf('dee')];
    const day = new Date(now).toISOString().slice(0, 10);
    const report = async (index: number, more: string) => {
      const query = `token=${token}&click_id=${clicks[index]}&transaction_id=${language}-${index}&${more}`;
      expect(await tracker.ask(`/postback/net?${query}`)).toMatchObject({ status: 200 });
    };
    await report(0, 'payout=0.0001');
    await report(1, 'payout=10.07');
    await report(2, 'status=reject&reason=fraud');
    await report(3, '');
    await refresh();
    // USD × 0.9 × 7, rounded once to 4 places.
    for (const reward of ['0.0006', '63.441', '7.7774'])
      expect(walker.printed).toMatch(new RegExp(`\\bbooked .* ${reward}$`, 'm'));
    expect(await walker.run('day', day)).toEqual({ code: 0, lines: [`${day}: no difference`], said: '' });
    const statement = await running.json(
      `/c/api/v1/statement?${new URLSearchParams(walker.site).toString()}&from=${day}&to=${day}`,
    );
    expect(statement.totals).toMatchObject({ clicks: 4, conversions: 3, rejected: 1, rewards: 71.219 });

    // It comes twice, by an order, and is booked once.
    const list = await running.json(`/c/api/v1/postbacks?${new URLSearchParams(walker.site).toString()}`);
    const { postback_id: id } = list.postbacks.find(({ reward }: { reward: number }) => reward === 63.441);
    await running.post(`/c/api/v1/postbacks/${id}/resend`, { ...walker.site, attempts: '1' }, 202);
    await refresh();
    expect(walker.printed).toMatch(new RegExp(`known already ${id} credit .* 63\\.441$`, 'm'));
    expect((await walker.run('day', day)).code).toBe(0);

    // What nobody signed and what is old is not booked.
    const fields = { event: 'credit', site_key: key, user_id: 'eve', click_id: 'x', reward: 5 };
    expect(await walker.send('forged', fields, { 'webhook-signature': 'v1,AAAA v1a,BBBB' })).toBe(401);
    expect(await walker.send('old', fields, { 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 301) })).toBe(
      401,
    );
    expect((await fetch(walker.address, { method: 'POST', body: JSON.stringify(fields) })).status).toBe(401);
    expect(walker.printed).not.toMatch(/forged|booked old/);

    // A chargeback while the receiver is away is a difference until it is there again.
    await walker.away();
    await report(3, 'status=chargeback');
    await refresh();
    const waiting = await walker.run('day', day);
    expect([waiting.code, waiting.lines]).toEqual([
      1,
      [
        expect.stringMatching(
          new RegExp(`^\\S*${language}-3\\S*: 0 due, 7\\.7774 booked; postbacks: .*chargeback \\S+ pending`),
        ),
      ],
    ]);
    await walker.receive();
    await refresh();
    await refresh();
    expect((await walker.run('day', day)).lines).toEqual([`${day}: no difference`]);

    // What the network never wrote is named once a snapshot is newer than the booking, on the day of the receiver's clock.
    expect(await walker.send('made-up', { ...fields, reward: 5.5 })).toBe(200);
    const booked = new Date().toISOString();
    const ofDays = async () => {
      const found = await Promise.all([...new Set([day, booked.slice(0, 10)])].map((of) => walker.run('day', of)));
      return found.flatMap(({ lines }) => lines);
    };
    expect((await ofDays()).filter((line) => !line.endsWith('no difference'))).toEqual([]);
    now = Date.now();
    await refresh();
    expect((await ofDays()).filter((line) => !line.endsWith('no difference'))).toEqual([
      expect.stringMatching(/^made-up: credit of 5\.5 booked, and no such postback/),
    ]);
  },
);
