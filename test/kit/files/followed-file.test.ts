import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FollowedFile } from '../../../src/kit/files/followed-file.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

const refused = (code: string) =>
  new Error('it cannot be read', { cause: Object.assign(new Error(code), { code, syscall: 'open' }) });

/** A file that is read, or fails, as the test says. */
async function followed() {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const path = join(data.root, 'followed.json');
  writeFileSync(path, '{}', { mode: 0o600 });
  const logged: string[] = [];
  const state = { path, logged, reads: 0, failure: undefined as Error | undefined };
  const read = () => {
    state.reads++;
    if (state.failure !== undefined) throw state.failure;
  };
  const log = createLogger({ write: (line) => void logged.push(line) });
  const file = new FollowedFile(path, log, read, { gone: 'it is gone', broken: 'it is broken' });
  await file.start();
  return { file, state };
}

it('is read again when its mode or owner changes: that may be how it was mended', async () => {
  const { file, state } = await followed();
  await file.poll();
  expect(state.reads).toBe(1);
  chmodSync(state.path, 0o644);
  await file.poll();
  await file.poll();
  expect(state.reads).toBe(2);
});

it('is tried again until the system lets it be read, which is logged once', async () => {
  const { file, state } = await followed();
  state.failure = refused('EMFILE');
  writeFileSync(state.path, '{"other": 1}');
  for (let poll = 0; poll < 3; poll++) await file.poll();
  expect(state.reads).toBe(4);
  expect(state.logged).toEqual([expect.stringContaining('it is broken')]);
  state.failure = undefined;
  await file.poll();
  await file.poll();
  expect(state.reads).toBe(5);
  // Another failure is logged again.
  state.failure = refused('EMFILE');
  writeFileSync(state.path, '{"a third": 1}');
  await file.poll();
  expect(state.logged).toHaveLength(2);
});

it('is not read again for what it says wrongly, until it says something else', async () => {
  const { file, state } = await followed();
  state.failure = new Error('it is not valid JSON');
  for (const text of ['{"torn', '{"torn again']) {
    writeFileSync(state.path, text);
    await file.poll();
    await file.poll();
  }
  expect(state.reads).toBe(3);
  expect(state.logged).toHaveLength(2);
});
