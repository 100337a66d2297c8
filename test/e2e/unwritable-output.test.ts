import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { launcher, offerline } from '../support/command-line.ts';
import { slow } from '../support/slow.ts';
import { asOf, smallData } from './small-data.ts';

/** Takes the place of a file on a full disk. */
const fullFile = '/dev/full';

/** Ends a command, whose outputs are those of `stdio`, with its code and what the piped ones had. */
async function ended(
  root: string,
  words: readonly string[],
  stdio: ['ignore', 'pipe' | number, 'pipe' | number],
  begun: (child: ReturnType<typeof spawn>) => void = () => undefined,
) {
  const child = spawn(launcher.executable, [...launcher.words, ...words], {
    env: { ...process.env, OFFERLINE_DATA: root },
    stdio,
  });
  let text = '';
  for (const output of [child.stdout, child.stderr]) output?.on('data', (part: Buffer) => (text += part.toString()));
  begun(child);
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code, text };
}

it.skipIf(!existsSync(fullFile))('a run whose log is on a full disk goes on to its end', slow, async () => {
  await using pipeline = await smallData();
  const full = await open(fullFile, 'w');
  onTestFinished(() => full.close());
  const run = await ended(pipeline.data.root, ['run', 'refresh', '--as-of', asOf], ['ignore', 'pipe', full.fd]);
  expect(run).toMatchObject({ code: 0, text: expect.stringContaining('published') as string });
  expect(JSON.parse((await offerline(pipeline.data.root, 'runs', '--json')).stdout)).toMatchObject({
    runs: [{ status: 'done' }],
  });
});

it('a run goes on to its end without the reader of its log', slow, async () => {
  await using pipeline = await smallData();
  const words = ['run', 'refresh', '--as-of', asOf];
  const run = await ended(pipeline.data.root, words, ['ignore', 'pipe', 'pipe'], ({ stderr }) => stderr?.destroy());
  expect(run).toMatchObject({ code: 0, text: expect.stringContaining('published') as string });
});

it.skipIf(!existsSync(fullFile))('an answer that a full disk does not take fails with advice', slow, async () => {
  await using pipeline = await smallData();
  const full = await open(fullFile, 'w');
  onTestFinished(() => full.close());
  const { code, text } = await ended(pipeline.data.root, ['sites', 'list'], ['ignore', full.fd, 'pipe']);
  expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining('The disk is full') as string });
  expect(text).not.toContain('command-line');
});
