import { expect, it } from 'vitest';
import { OfferlineError } from '../../src/kit/errors/errors.ts';
import { acquireProcessLock } from '../../src/kit/files/process-lock.ts';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { PullLedger } from '../../src/sources/pull-ledger.ts';
import { readLastFailure } from '../../src/pipeline/status/last-failure.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

const noon = '2026-03-10T12:00:00Z';

it('pulls are in the run ledger once the next run has begun, each once', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  using ledger = new PullLedger(pipeline.data);
  const pull = (status: 'done' | 'failed', at: string, error?: string) =>
    ledger.end(ledger.begin('north', at), at, { status, records: 3, ...(error === undefined ? {} : { error }) });
  pull('done', '2026-03-10T11:00:00Z');
  pull('failed', '2026-03-10T11:20:00Z', 'HTTP 503');
  // A pull holds this lock while it is under way.
  const lock = await acquireProcessLock(
    {
      name: 'source south',
      lockFile: pipeline.data.sourceLockFile('south'),
      busy: (message) => new OfferlineError(message),
    },
    { command: 'sources pull', waitSeconds: 0, onWaiting: () => undefined },
  );
  const underWay = ledger.begin('south', '2026-03-10T11:30:00Z');
  await pipeline.ingest(noon);
  const runs = () =>
    readRecentRuns(pipeline.data).runs.map(({ run_id, pipeline: name, status }) => `${run_id} ${name} ${status}`);
  expect(runs()).toEqual(['3 ingest done', '2 pull north failed', '1 pull north done']);
  expect(readLastFailure(pipeline.data)).toBeNull();
  await pipeline.refresh(noon);
  ledger.end(underWay, '2026-03-10T11:40:00Z', { status: 'done' });
  lock.release();
  pull('done', '2026-03-10T11:50:00Z');
  await pipeline.ingest(noon);
  expect(runs()).toEqual([
    '7 ingest done',
    '6 pull north done',
    '5 pull south done',
    '4 refresh done',
    '3 ingest done',
    '2 pull north failed',
    '1 pull north done',
  ]);
});
