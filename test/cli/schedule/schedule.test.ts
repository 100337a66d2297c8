import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CronTimes } from '../../../src/kit/time/cron-times.ts';
import { nextMoments, realScheduleEffects, startSchedule, type Schedule } from '../../../src/cli/schedule/schedule.ts';
import { ScheduleLane, type ScheduledPipeline, type ScheduledRun } from '../../../src/cli/schedule/schedule-lane.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { parseSettings, type Plan } from '../../../src/kit/config/settings.ts';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { momentOfMilliseconds } from '../../../src/kit/time/moment.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { plannedPipelines } from '../../../src/cli/schedule/planned-pipelines.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { PictureIndex } from '../../../src/pictures/picture-index.ts';
import { withNotedOutcome } from '../../../src/pipeline/runs/pipeline-outcomes.ts';
import { PullLedger } from '../../../src/sources/pull-ledger.ts';
import { endOf } from '../../support/commands.ts';
import { slow } from '../../support/slow.ts';

const at = (text: string) => Date.parse(text);
const iso = (time: number | undefined) => (time === undefined ? undefined : momentOfMilliseconds(time));

let data: DataDirectory;
let schedules: Schedule[];
beforeEach(async () => {
  data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-schedule-')));
  schedules = [];
});
afterEach(async () => {
  for (const schedule of schedules) await schedule.stop();
  await rm(data.root, { recursive: true });
});

/** A scheduler with a clock that the test turns, and runs that end when the test says so. */
class Scheduler {
  now: number;
  readonly started: ScheduledRun[] = [];
  readonly #endings: ((code: number) => void)[] = [];
  #tick: () => void = () => undefined;
  schedule!: Schedule;

  constructor(now: string) {
    this.now = at(now);
  }

  async start(
    plan: Partial<Plan>,
    { coveredUntil, isDue, watch }: { coveredUntil?: string } & Pick<ScheduledPipeline, 'isDue' | 'watch'> = {},
  ): Promise<this> {
    const pipeline: ScheduledPipeline = {
      name: 'refresh',
      plan: { cron: '0 * * * *', catch_up: 'last', overlap: 'skip', ...plan },
      coveredUntil: coveredUntil === undefined ? undefined : at(coveredUntil),
      isDue,
      watch,
    };
    const run = (scheduled: ScheduledRun) =>
      new Promise<number>((resolve) => {
        this.started.push(scheduled);
        this.#endings.push(resolve);
      });
    this.schedule = await startSchedule(data, [pipeline], run, createLogger({ write: () => true }, 'silent'), {
      now: () => this.now,
      tick: (_expression, onTick) => {
        this.#tick = onTick;
        return { stop: () => undefined };
      },
    });
    schedules.push({ ...this.schedule, stop: () => this.stop() });
    return this;
  }

  async tick(now: string): Promise<void> {
    this.now = at(now);
    this.#tick();
    await this.#settled();
  }

  /** Ends the run that was started last. */
  async end(code = 0): Promise<void> {
    this.#endings.pop()?.(code);
    await this.#settled();
  }

  /** Ends every run, one after the other, as long as others follow. */
  async endAll(): Promise<void> {
    while (this.#endings.length > 0) await this.end();
  }

  /** `scheduled at`, and the as-of where one is given. */
  get runs(): string[] {
    return this.started.map(
      ({ scheduledAt, asOf }) =>
        `${scheduledAt.slice(11, 16)}${asOf === undefined ? '' : ` as of ${asOf.slice(11, 16)}`}`,
    );
  }

  async stop(): Promise<void> {
    const stopped = this.schedule.stop();
    await this.endAll();
    await stopped;
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a day's outage", () => {
  const outage = { coveredUntil: '2026-11-17T12:00:00Z' };
  const now = '2026-11-18T12:20:00Z';

  it('is caught up by one run for each moment, the past ones as of then, the last as of now', async () => {
    const scheduler = await new Scheduler(now).start({ catch_up: 'all' }, outage);
    await scheduler.endAll();
    await scheduler.schedule.caughtUp;
    expect(scheduler.runs).toHaveLength(24);
    expect(scheduler.runs.slice(0, 2)).toEqual(['13:00 as of 13:00', '14:00 as of 14:00']);
    expect(scheduler.runs.slice(-2)).toEqual(['11:00 as of 11:00', '12:00']);
    await scheduler.tick('2026-11-18T13:00:00Z');
    expect(scheduler.runs.at(-1)).toBe('13:00');
  });

  it('is caught up by one run for the newest moment', async () => {
    const scheduler = await new Scheduler(now).start({ catch_up: 'last' }, outage);
    await scheduler.endAll();
    await scheduler.schedule.caughtUp;
    expect(scheduler.runs).toEqual(['12:00']);
  });

  it('is passed over', async () => {
    const scheduler = await new Scheduler(now).start({ catch_up: 'none' }, outage);
    await scheduler.schedule.caughtUp;
    expect(scheduler.runs).toEqual([]);
    await scheduler.tick('2026-11-18T13:00:00Z');
    expect(scheduler.runs).toEqual(['13:00']);
  });

  it('is the same when the machine only slept', async () => {
    for (const [catch_up, runs] of [
      ['all', 4],
      ['last', 1],
    ] as const) {
      const scheduler = await new Scheduler('2026-11-18T09:00:00Z').start(
        { catch_up },
        { coveredUntil: '2026-11-18T09:00:00Z' },
      );
      await scheduler.tick('2026-11-18T13:00:00Z');
      await scheduler.endAll();
      expect([catch_up, scheduler.runs.length, scheduler.runs.at(-1)]).toEqual([catch_up, runs, '13:00']);
      await scheduler.stop();
    }
  });

  it('is passed over when the machine only slept past its moments, and was late for the last of them', async () => {
    const scheduler = await new Scheduler('2026-11-18T09:00:00Z').start(
      { catch_up: 'none' },
      { coveredUntil: '2026-11-18T09:00:00Z' },
    );
    await scheduler.tick('2026-11-18T13:20:00Z');
    expect(scheduler.runs).toEqual([]);
    await scheduler.tick('2026-11-18T14:00:30Z');
    expect(scheduler.runs).toEqual(['14:00']);
    await scheduler.endAll();
    await scheduler.tick('2026-11-18T18:00:00Z');
    expect(scheduler.runs).toEqual(['14:00', '18:00']);
  });
});

it('catches up from the oldest of 150,000 moments on', slow, async () => {
  const plan: Plan = { cron: '* * * * *', catch_up: 'all', overlap: 'skip' };
  const begun: ScheduledRun[] = [];
  const lane = new ScheduleLane(
    { name: 'refresh', plan, coveredUntil: 0 },
    new CronTimes(plan.cron, 'schedule.refresh'),
    async (run) => {
      if (begun.push(run) === 2) void lane.stop();
      return 0;
    },
    createLogger({ write: () => true }, 'silent'),
  );
  await lane.begin(150_000 * 60_000);
  expect(begun.map(({ asOf }) => asOf)).toEqual(['1970-01-01T00:01:00Z', '1970-01-01T00:02:00Z']);
});

it('runs once where there never was a run, and at once where none was missed, never', async () => {
  const fresh = await new Scheduler('2026-11-18T12:20:00Z').start({});
  expect(fresh.runs).toEqual(['12:00']);
  await fresh.stop();
  const none = await new Scheduler('2026-11-18T12:20:00Z').start({ catch_up: 'none' });
  expect(none.runs).toEqual([]);
  await none.stop();
  const restarted = await new Scheduler('2026-11-18T12:20:00Z').start({}, { coveredUntil: '2026-11-18T12:00:00Z' });
  expect(restarted.runs).toEqual([]);
});

it('leaves out a moment that comes while the run before is under way', async () => {
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    { overlap: 'skip' },
    { coveredUntil: '2026-11-18T12:00:00Z' },
  );
  for (const hour of [13, 14, 15]) await scheduler.tick(`2026-11-18T${hour}:00:00Z`);
  await scheduler.endAll();
  expect(scheduler.runs).toEqual(['13:00']);
  await scheduler.tick('2026-11-18T16:00:00Z');
  expect(scheduler.runs).toEqual(['13:00', '16:00']);
});

it('or queues it, one run for all that waited', async () => {
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    { overlap: 'queue' },
    { coveredUntil: '2026-11-18T12:00:00Z' },
  );
  for (const hour of [13, 14, 15]) await scheduler.tick(`2026-11-18T${hour}:00:00Z`);
  expect(scheduler.runs).toEqual(['13:00']);
  await scheduler.endAll();
  expect(scheduler.runs).toEqual(['13:00', '15:00']);
});

it('or begins beside it, and ends when all of them have', async () => {
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    { overlap: 'beside' },
    { coveredUntil: '2026-11-18T12:00:00Z' },
  );
  for (const hour of [13, 14, 15]) await scheduler.tick(`2026-11-18T${hour}:00:00Z`);
  expect(scheduler.runs).toEqual(['13:00', '14:00', '15:00']);
  let hasStopped = false;
  const stopped = scheduler.schedule.stop().then(() => (hasStopped = true));
  await scheduler.end();
  await scheduler.end();
  expect(hasStopped).toBe(false);
  await scheduler.end();
  await stopped;
});

it('runs at once when something lands, and once more for what lands meanwhile', async () => {
  let land = () => {};
  let watching = false;
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    { overlap: 'skip' },
    {
      coveredUntil: '2026-11-18T12:00:00Z',
      watch: (onNews) => {
        land = onNews;
        watching = true;
        return { stop: () => Promise.resolve(void (watching = false)) };
      },
    },
  );
  land();
  await scheduler.end(0);
  expect(scheduler.runs).toEqual(['12:20']);
  scheduler.now = at('2026-11-18T12:21:00Z');
  for (let files = 0; files < 3; files++) land();
  scheduler.now = at('2026-11-18T12:22:00Z');
  for (let files = 0; files < 3; files++) land();
  expect(scheduler.runs).toEqual(['12:20', '12:21']);
  await scheduler.endAll();
  expect(scheduler.runs).toEqual(['12:20', '12:21', '12:22']);
  await scheduler.tick('2026-11-18T13:00:00Z');
  await scheduler.endAll();
  expect(scheduler.runs.slice(3)).toEqual(['13:00']);
  await scheduler.stop();
  expect(watching).toBe(false);
  land();
  expect(scheduler.runs).toHaveLength(4);
});

it('takes a tick that comes a little early for its moment, once', async () => {
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start({}, { coveredUntil: '2026-11-18T12:00:00Z' });
  await scheduler.tick('2026-11-18T12:59:59.990Z');
  await scheduler.end();
  await scheduler.tick('2026-11-18T13:00:00.100Z');
  expect(scheduler.runs).toEqual(['13:00']);
});

it('goes on after a run that failed', async () => {
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start({});
  await scheduler.end(1);
  await scheduler.tick('2026-11-18T13:00:00Z');
  expect(scheduler.runs).toEqual(['12:00', '13:00']);
});

it('goes on after it could not find out whether anything is due', async () => {
  const answers = [
    () => {
      throw new Error('the store is locked');
    },
    () => true,
  ];
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    {},
    { coveredUntil: '2026-11-18T12:00:00Z', isDue: () => (answers.shift() as () => boolean)() },
  );
  await scheduler.tick('2026-11-18T13:00:00Z');
  await scheduler.tick('2026-11-18T14:00:00Z');
  expect(scheduler.runs).toEqual(['14:00']);
});

it('starts nothing where nothing is due', async () => {
  let due = false;
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    {},
    { coveredUntil: '2026-11-18T12:00:00Z', isDue: () => due },
  );
  await scheduler.tick('2026-11-18T13:00:00Z');
  due = true;
  await scheduler.tick('2026-11-18T14:00:00Z');
  expect(scheduler.runs).toEqual(['14:00']);
});

it('goes on at the next moment after the clock was set back, and does not run a moment twice for that', async () => {
  for (const catch_up of ['all', 'last', 'none'] as const) {
    const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
      { catch_up },
      { coveredUntil: '2026-11-18T12:00:00Z' },
    );
    await scheduler.tick('2027-02-01T13:00:00Z');
    await scheduler.endAll();
    scheduler.started.length = 0;
    for (const time of ['2026-11-18T13:00:00.010Z', '2026-11-18T13:00:00.020Z', '2026-11-18T14:00:00Z']) {
      await scheduler.tick(time);
      await scheduler.endAll();
    }
    expect([catch_up, scheduler.runs]).toEqual([catch_up, ['13:00', '14:00']]);
    await scheduler.stop();
  }
});

describe('the clock of this machine', () => {
  beforeEach(() => void vi.useFakeTimers({ now: at('2026-11-18T12:00:01Z') }));
  afterEach(() => void vi.useRealTimers());

  it('may be set ahead for months and back: moments go on coming, in both', async () => {
    const moments: string[] = [];
    const ticking = realScheduleEffects.tick(
      '*/10 * * * * *',
      () => void moments.push(new Date().toISOString().slice(0, 19)),
    );
    await vi.advanceTimersByTimeAsync(20_000);
    expect(moments).toEqual(['2026-11-18T12:00:10', '2026-11-18T12:00:20']);
    const forty = 40 * 86_400_000;
    vi.setSystemTime(Date.now() + forty);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(moments.splice(0)).toContain('2026-12-28T12:00:40');
    vi.setSystemTime(Date.now() - forty);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(moments).toContain('2026-11-18T12:01:00');
    await ticking.stop();
    moments.splice(0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(moments).toEqual([]);
  });

  it('loses no moment where the process cannot act in time, and where the clock is set ahead past one', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const ticks: string[] = [];
    const ticking = realScheduleEffects.tick(
      '30 * * * *',
      () => void ticks.push(new Date().toISOString().slice(11, 19)),
    );
    await vi.advanceTimersByTimeAsync(29 * 60_000);
    vi.setSystemTime(at('2026-11-18T12:29:04Z'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ticks).toEqual(['12:30:03']);
    vi.setSystemTime(at('2026-11-18T13:31:00Z'));
    await vi.advanceTimersByTimeAsync(2000);
    expect(ticks.slice(1)).toEqual(['13:31:02']);
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(ticks.slice(2)).toEqual(['14:30:00']);
    vi.setSystemTime(at('2026-11-18T18:31:00Z'));
    await vi.advanceTimersByTimeAsync(1000);
    vi.setSystemTime(at('2026-11-18T14:32:00Z'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ticks.slice(3)).toEqual([]);
    await ticking.stop();
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });
});

it('starts nothing any more once it is stopped, and waits for the run under way', async () => {
  const scheduler = await new Scheduler('2026-11-18T12:20:00Z').start(
    { catch_up: 'all' },
    { coveredUntil: '2026-11-18T08:00:00Z' },
  );
  let stopped = false;
  const stopping = scheduler.schedule.stop().then(() => (stopped = true));
  await scheduler.tick('2026-11-18T13:00:00Z');
  expect(stopped).toBe(false);
  await scheduler.end();
  await stopping;
  expect(scheduler.runs).toEqual(['09:00 as of 09:00']);
});

it('is the only one of its data directory', async () => {
  const first = await new Scheduler('2026-11-18T12:20:00Z').start({});
  await expect(new Scheduler('2026-11-18T12:20:00Z').start({})).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringContaining(String(process.pid)) as string,
  });
  await first.stop();
  await new Scheduler('2026-11-18T12:20:00Z').start({});
});

describe('the moments of an expression', () => {
  const plan = (cron: string): Plan => ({ cron, catch_up: 'last', overlap: 'skip' });

  it('are told ahead, in UTC', () => {
    const next = nextMoments({ name: 'maintenance', plan: plan('30 3 * * 1-5') }, at('2026-11-20T03:30:00Z'), 3);
    expect(next.map(iso)).toEqual(['2026-11-23T03:30:00Z', '2026-11-24T03:30:00Z', '2026-11-25T03:30:00Z']);
  });

  it.each([
    ['*/5 * * * *', '2026-11-18T12:03:00Z', '2026-11-18T12:05:00Z', '2026-11-18T12:00:00Z'],
    ['*/10 * * * * *', '2026-11-18T12:03:05Z', '2026-11-18T12:03:10Z', '2026-11-18T12:03:00Z'],
    ['0 0 L * *', '2027-02-10T00:00:00Z', '2027-02-28T00:00:00Z', '2027-01-31T00:00:00Z'],
    ['0 0 29 2 *', '2026-11-18T00:00:00Z', '2028-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('%s has one after and one before %s', (cron, now, next, before) => {
    const times = new CronTimes(cron, 'schedule.refresh');
    expect(iso(times.next(at(now)))).toBe(next);
    expect(iso(times.newest(at(now) - 4 * 366 * 86_400_000, at(now)))).toBe(before);
    expect(iso(times.newest(at(before), at(now)))).toBeUndefined();
  });

  it('come in offerline.json as a text, or with how to catch up and overlap, or not at all', () => {
    const { schedule } = parseSettings(
      '{"schedule": {"refresh": "0 * * * *", "postbacks": null, "maintenance": {"cron": "0 4 * * *", "catch_up": "none"}}}',
      'offerline.json',
    );
    expect(schedule).toEqual({
      refresh: { ...plan('0 * * * *'), watch: 'tracker' },
      pull: { ...plan('*/20 * * * *'), overlap: 'beside' },
      postbacks: null,
      maintenance: { cron: '0 4 * * *', catch_up: 'none', overlap: 'skip' },
      pictures: plan('*/15 * * * *'),
    });
    expect(parseSettings('{}', 'offerline.json').schedule.refresh).toEqual({
      ...plan('*/5 * * * *'),
      watch: 'tracker',
    });
    for (const watch of [true, false, 'tracker']) {
      const watched = { refresh: { cron: '0 * * * *', watch } };
      expect(parseSettings(JSON.stringify({ schedule: watched }), 'offerline.json').schedule.refresh).toMatchObject(
        watched.refresh,
      );
    }
    expect(() =>
      parseSettings('{"schedule": {"postbacks": {"cron": "0 * * * *", "watch": true}}}', 'offerline.json'),
    ).toThrow('schedule.postbacks');
    expect(() => new CronTimes('61 * * * *', 'schedule.refresh')).toThrow(UsageError);
    expect(() => new CronTimes('61 * * * *', 'schedule.refresh')).toThrow('schedule.refresh "61 * * * *"');
  });

  it('name the file where they stand, a wrong one of a source its own', async () => {
    await writeFile(data.sitesFile, '{"sites": []}');
    const source = { source: 'north', connector: 'everflow', every: 'soon', secrets: { api_key: 'k' } };
    await writeFile(data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
    const { code, stderr } = await endOf(data.root, 'schedule', '--dry-run');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('sources.json: "every" of north "soon" is no cron') as string,
    });
  });
});

describe('a schedule that is planned again', () => {
  const pull = (name: string, cron = '0 * * * *'): ScheduledPipeline => ({
    name,
    plan: { cron, catch_up: 'last', overlap: 'skip' },
    coveredUntil: undefined,
  });
  const open = async (...pipelines: ScheduledPipeline[]) => {
    const started: string[] = [];
    const ticks = new Map<string, () => void>();
    const run = ({ pipeline }: ScheduledRun) => (started.push(pipeline), Promise.resolve(0));
    let now = at('2026-11-20T12:00:30Z');
    const schedule = await startSchedule(data, pipelines, run, createLogger({ write: () => true }, 'silent'), {
      now: () => now,
      tick: (expression, onTick) => {
        ticks.set(expression, onTick);
        return { stop: () => void ticks.delete(expression) };
      },
    });
    schedules.push(schedule);
    await schedule.caughtUp;
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    const tick = async () => {
      await settled();
      now += 3_600_000;
      for (const each of ticks.values()) each();
      await settled();
      return started.splice(0);
    };
    return { schedule, tick, expressions: () => [...ticks.keys()], started };
  };

  it('pulls a new source at once and then at its moments, and leaves the others as they are', async () => {
    const { schedule, tick, started } = await open(pull('refresh', '1 * * * *'));
    expect(started.splice(0)).toEqual(['refresh']);
    schedule.replan([pull('refresh', '1 * * * *'), pull('pull north')]);
    expect(started.splice(0)).toEqual(['pull north']);
    expect(await tick()).toEqual(['refresh', 'pull north']);
  });

  it('ends what is planned no more, and follows another plan of the same name', async () => {
    const { schedule, tick, expressions, started } = await open(pull('pull north'), pull('pull south', '2 * * * *'));
    started.splice(0);
    schedule.replan([pull('pull south', '3 * * * *')]);
    await expect.poll(expressions).toEqual(['3 * * * *']);
    started.splice(0);
    expect(await tick()).toEqual(['pull south']);
  });

  it('stays as it was where a plan cannot be used', async () => {
    const { schedule, expressions } = await open(pull('pull north'));
    expect(() => schedule.replan([pull('pull south', 'soon')])).toThrow(UsageError);
    expect(expressions()).toEqual(['0 * * * *']);
  });
});

it('goes on with all else where sources.json cannot be used, and says so', async () => {
  await writeFile(data.sitesFile, '{"sites": []}');
  await writeFile(data.sourcesFile, '{"sources": [', { mode: 0o600 });
  const { code, stdout, stderr } = await endOf(data.root, 'schedule', '--dry-run', '--json');
  const { schedule } = JSON.parse(stdout) as { schedule: { pipeline: string }[] };
  expect({ code, pipelines: schedule.map(({ pipeline }) => pipeline) }).toEqual({
    code: 0,
    pipelines: ['refresh', 'postbacks', 'maintenance'],
  });
  expect(stderr).toContain('nothing is pulled until this is mended');
});

it('an interrupted pull or pass over pictures is caught up, one that was done or failed is not', async () => {
  const logger = createLogger({ write: () => true }, 'silent');
  const every = '0 * * * *';
  const source = { source: 'north', connector: 'everflow', secrets: { api_key: 'k'.repeat(20) } };
  const sources = [
    { ...source, every },
    { ...source, source: 'south' },
  ];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  const settings = parseSettings(JSON.stringify({ pictures: true, schedule: { pictures: every } }), 'offerline.json');
  const covered = async (pipeline: string) => {
    const planned = await plannedPipelines(data, settings, logger);
    return iso(planned.find(({ name }) => name === pipeline)?.coveredUntil);
  };
  const pull = (name: string, startedAt: string, status: 'done' | 'failed' | 'interrupted') => {
    using ledger = new PullLedger(data);
    ledger.end(ledger.begin(name, startedAt), startedAt, { status });
  };
  pull('north', '2026-11-18T10:00:00Z', 'interrupted');
  expect(await covered('pull north')).toBeUndefined();
  pull('north', '2026-11-18T11:00:00Z', 'failed');
  pull('north', '2026-11-18T12:00:00Z', 'interrupted');
  pull('south', '2026-11-18T11:30:00Z', 'done');
  expect([await covered('pull north'), await covered('pull')]).toEqual([
    '2026-11-18T11:00:00Z',
    '2026-11-18T11:30:00Z',
  ]);

  await mkdir(data.pictures);
  using index = await PictureIndex.open(data, realEffects.files, () => undefined);
  index.beginPass(at('2026-11-18T12:00:00Z'));
  expect(await covered('pictures')).toBeUndefined();
  index.endPass(at('2026-11-18T12:01:00Z'), null);
  expect(await covered('pictures')).toBe('2026-11-18T12:00:00Z');
  const stop = new AbortController();
  const pass = () => withNotedOutcome({ data, effects: realEffects, logger }, 'pictures', async () => {}, stop.signal);
  await pass();
  expect(await covered('pictures')).toBe('2026-11-18T12:00:00Z');
  stop.abort();
  await pass();
  expect(await covered('pictures')).toBeUndefined();
});

it('what an operator has to put right is logged as one line, a fault of ours with where it was found', async () => {
  const lines: string[] = [];
  const logger = createLogger({ write: (line) => lines.push(line) > 0 }, 'error');
  for (const error of [new UsageError('name it'), new Error('a fault')]) {
    const pipeline: ScheduledPipeline = {
      name: 'postbacks',
      plan: { cron: '0 * * * *', catch_up: 'last', overlap: 'skip' },
      coveredUntil: undefined,
      isDue: () => Promise.reject(error),
    };
    const times = new CronTimes(pipeline.plan.cron, 'schedule.postbacks');
    await new ScheduleLane(pipeline, times, () => Promise.resolve(0), logger).begin(at('2026-11-20T03:30:00Z'));
  }
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { pipeline: 'postbacks', reason: 'name it' },
    { pipeline: 'postbacks', err: { message: 'a fault', stack: expect.any(String) as string } },
  ]);
  expect(lines[0]).not.toContain('stack');
});

it.each(['1-1000000000 * * * *', '*/99999999999 * * * *', '0 0 1-100000 * *', '1e9 * * * *', '0 1-9999 * * *'])(
  '%s is no cron expression, which is told at once',
  (expression) => {
    expect(() => new CronTimes(expression, 'offerline.json: schedule.refresh')).toThrow(
      /^offerline\.json: schedule\.refresh "[^"]+" is no cron expression \(.+\); write it like "\*\/5 \* \* \* \*"$/,
    );
  },
);
