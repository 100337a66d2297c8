import { expect, it } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { OfferlineError } from '../../src/kit/errors/errors.ts';
import { machineFailure } from '../../src/kit/errors/machine-failure.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { acquireServiceLock } from '../../src/serve/service-lock.ts';

const withCode = (code: string) => Object.assign(new Error(`${code}: of the system`), { code });
const data = new DataDirectory('/there/is/no/such');

async function acquired(error: unknown): Promise<{ failure: unknown; logged: string[] }> {
  const logged: string[] = [];
  const log = createLogger({ write: (line) => void logged.push(line) });
  const request = { command: 'serve', waitSeconds: 0, onWaiting: () => undefined };
  const refuse = async (): Promise<never> => {
    throw error;
  };
  let failure: unknown;
  try {
    (await acquireServiceLock(data, request, log, refuse)).release();
  } catch (thrown) {
    failure = thrown;
  }
  return { failure, logged };
}

it.for([
  ['a full disk', withCode('ENOSPC')],
  ['a used up quota', machineFailure(withCode('EDQUOT'))],
  ['a disk that became read-only', machineFailure(withCode('EROFS'))],
  ['a full disk, as SQLite reports it', machineFailure(new Error('database or disk is full'))],
] as const)('%s keeps nothing from being served, and is logged', async ([, error]) => {
  expect(await acquired(error)).toEqual({
    failure: undefined,
    logged: [expect.stringMatching(/the disk takes nothing more: what was published is served .* free some room/)],
  });
});

it.for([
  ['another service', new OfferlineError('The HTTP service is busy')],
  ['a folder of somebody else', machineFailure(withCode('EACCES'))],
] as const)('%s does', async ([, error]) => {
  expect(await acquired(error)).toEqual({ failure: error, logged: [] });
});
