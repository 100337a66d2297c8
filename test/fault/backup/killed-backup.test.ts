import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../../src/demo/generate/network/random.ts';
import { digestsBelow, smallBackedUpNetwork } from '../../support/backed-up.ts';
import { nodeArguments } from '../../support/command-line.ts';
import { endOf } from '../../support/commands.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { rounds } from '../../support/rounds.ts';
import type { StepPoint } from '../lives/watched-effects.ts';
import type { ChildBackup } from './backup-child.ts';
import { slow } from '../../support/slow.ts';

const child = fileURLToPath(new URL('./backup-child.ts', import.meta.url));

let pipeline: PipelineUnderTest;
let work: string;

beforeAll(async () => {
  pipeline = await smallBackedUpNetwork();
  work = await mkdtemp(join(tmpdir(), 'offerline-killed-'));
});

afterAll(async () => {
  await pipeline[Symbol.asyncDispose]();
  await rm(work, { recursive: true });
});

/** Runs the child to its end. Gives the steps that it came to, or the signal that ended it. */
async function run(request: ChildBackup): Promise<{ signal: string | null; steps: StepPoint[] }> {
  const running = spawn(process.execPath, [...nodeArguments, child, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  running.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code, signal] = (await once(running, 'close')) as [number | null, string | null];
  if (signal === null && code !== 0) throw new Error(`the ${request.kind} ended with ${code}`);
  return { signal, steps: signal === null ? (JSON.parse(printed) as StepPoint[]) : [] };
}

/** Points of the whole work, of its bytes as well: as many as asked, each but once. */
function points(random: Random, steps: readonly StepPoint[], bytes: number, count: number): ChildBackup['killAt'][] {
  const chosen = Array.from({ length: count }, (_, number) =>
    number % 3 === 2 ? { bytes: random.below(bytes) } : random.pick(steps),
  );
  return [...new Map(chosen.map((point) => [JSON.stringify(point), point])).values()];
}

test('a backup killed anywhere leaves a whole file or none; the next one and the next run go on', slow, async () => {
  const { root } = pipeline.data;
  const first = join(work, 'first.tar');
  const { steps } = await run({ kind: 'backup', root, place: first });
  const { size } = await stat(first);
  const named = new Set(steps.map(({ step }) => step));
  for (const step of ['backup: SQLite copied', 'backup: file linked', 'backup: renamed']) expect(named).toContain(step);

  let killed = 0;
  for (const [index, killAt] of points(new Random(3), steps, size / 2, rounds(3, 15)).entries()) {
    const place = join(work, `killed-${index}.tar`);
    const { signal } = await run({ kind: 'backup', root, place, ...(killAt && { killAt }) });
    if (signal !== null) killed++;
    if (!existsSync(place)) continue;
    const ended = await endOf('nowhere', 'restore', place, '--into', join(work, `whole-${index}`));
    expect(ended, JSON.stringify(killAt)).toMatchObject({ code: 0 });
  }
  expect(killed).toBeGreaterThan(rounds(1, 7));
  expect(await endOf(root, 'backup', join(work, 'next.tar'))).toMatchObject({ code: 0 });
  expect(await readdir(pipeline.data.warehouse)).not.toContain('backup');
  expect(await endOf(root, 'doctor', '--deep', '--json')).toMatchObject({ code: 0 });
  expect(await endOf(root, 'run', 'refresh')).toMatchObject({ code: 0 });
});

test('a restore killed anywhere is refused until the next call completes it, equal to the backup', slow, async () => {
  const place = join(work, 'restored.tar');
  expect(await endOf(pipeline.data.root, 'backup', place)).toMatchObject({ code: 0 });
  const whole = join(work, 'whole');
  const { steps } = await run({ kind: 'restore', root: whole, place });
  const expected = await digestsBelow(whole);
  const { size } = await stat(place);
  // Few of many steps are those of putting files in place, where a half of them is here and a half there.
  const moving = steps.filter(({ step }) => /^restore: (all|put|ended|directory|folder removed)/.test(step));
  const random = new Random(4);
  const chosen = [...points(random, steps, size, rounds(2, 10)), ...points(random, moving, size, rounds(2, 10))];

  const refusal = { code: 2, stderr: expect.stringContaining('is not empty') as string };
  let refused = 0;
  for (const [index, killAt] of chosen.entries()) {
    const root = join(work, `half-${index}`);
    const { signal } = await run({ kind: 'restore', root, place, ...(killAt && { killAt }) });
    const about = JSON.stringify(killAt);
    const hasSites = existsSync(join(root, 'sites.json'));
    const ran = hasSites ? undefined : await endOf(root, 'run', 'refresh');
    expect([undefined, 2], about).toContain(ran?.code);
    if (ran?.stderr.includes('a restore into') === true) refused++;
    const isWhole = hasSites && !existsSync(join(root, '.restored', 'offerline-backup.json'));
    expect(isWhole || signal !== null).toBe(true);
    const again = await endOf('nowhere', 'restore', place, '--into', root);
    expect(again, about).toMatchObject(isWhole ? refusal : { code: 0 });
    expect(await digestsBelow(root), about).toEqual(expected);
    expect(await endOf(root, 'status', '--json')).not.toMatchObject({ code: 2 });
  }
  expect(refused).toBeGreaterThan(0);
});
