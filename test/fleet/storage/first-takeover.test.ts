import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import '../../../src/cli/compose.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';
import { SmallBucket } from '../../support/small-bucket.ts';

const noon = '2026-03-10T12:00:00Z';

it('a machine of nothing whose first takeover broke off takes over at the next look', slow, async () => {
  const bucket = await SmallBucket.start();
  onTestFinished(() => bucket.close());
  const settings = {
    storage: {
      url: `s3://${bucket.name}/network`,
      endpoint: bucket.url,
      access_key_id: 'id',
      secret_access_key: 'very/secret+key',
    },
  };
  await using writer = await PipelineUnderTest.create(new Date(noon), { settings });
  await writer.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  await writer.refresh(noon);
  await using standby = await PipelineUnderTest.bare(new Date(noon));
  await standby.configure(settings);
  await writeFile(standby.data.sitesFile, JSON.stringify({ sites: [] }));
  // The state has come by then, and the snapshot does not.
  bucket.fault = ({ kind, key }) =>
    kind === 'get' && key.includes('/content/') && existsSync(standby.data.stateFile)
      ? { status: 403, code: 'AccessDenied' }
      : undefined;
  await expect(standby.refresh(noon)).rejects.toThrow('HTTP 403 AccessDenied');
  bucket.fault = () => undefined;
  await standby.refresh(noon);
  expect(await standby.ask('SELECT offer_id FROM offers')).toEqual([{ offer_id: 1 }]);
});
