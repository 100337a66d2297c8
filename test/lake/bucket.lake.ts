import { afterAll, expect, it } from 'vitest';
import { refresh } from '../../pipelines/refresh.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { snapshotNames } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { wallClock } from '../fault/lives/growing-landing.ts';
import { Machines, storageAt } from '../fleet/storage/machines.ts';
import { Moto } from '../s3/store/moto.ts';
import { digestsOf, lakeDigests, tablesOf } from './digests.ts';
import { askDuckLake } from './duckdb-with-ducklake.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

it('in object storage it asks by one ATTACH, as s3:// and as https://, every table of every kept snapshot', async () => {
  const seed = 3001;
  await using machines = await Machines.create(seed, 3, [moto.url]);
  const [data] = machines.together;
  if (data === undefined) throw new Error('there is no machine');
  for (let round = 0; round < 3; round++) {
    await machines.land(round);
    await refresh({ data, terminal, asOf: machines.landing.asOf(round) }, { ...realEffects, now: () => wallClock });
  }
  const { url, access_key_id, secret_access_key } = storageAt(seed, moto.url);
  const [oldest = '', newest = ''] = await snapshotNames(data);
  const tables = await tablesOf(`${data.published}/${newest}`);
  const here = await digestsOf(`${data.published}/${newest}`, tables);
  const secret = `CREATE SECRET (TYPE s3, KEY_ID '${access_key_id}', SECRET '${secret_access_key}', ENDPOINT '${new URL(moto.url).host}', URL_STYLE 'path', USE_SSL false)`;
  const byS3 = [secret, `ATTACH 'ducklake:${url}/published/offerline.ducklake' AS lake (READ_ONLY)`];
  const relations = tables.map((table) => `lake.${table}`);
  expect(await lakeDigests(byS3, relations)).toEqual(here);
  const [first] = (await askDuckLake(...byS3, 'SELECT min(snapshot_id) FROM lake.snapshots()')).at(-1)?.rows[0] ?? [];
  expect(
    await lakeDigests(
      byS3,
      relations.map((relation) => `${relation} AT (VERSION => ${first})`),
    ),
  ).toEqual(await digestsOf(`${data.published}/${oldest}`, tables));

  // What analysts read may be opened to all, apart from the rest.
  await moto.openToAll(`network-${seed}/published/`);
  expect((await fetch(`${url.replace('s3:/', moto.url)}/current.json`)).status).toBe(403);
  const place = `${url.replace('s3:/', moto.url)}/published/`;
  const attach = `ATTACH 'ducklake:${place}offerline.ducklake' AS lake (READ_ONLY, DATA_PATH '${place}', OVERRIDE_DATA_PATH true)`;
  expect(await lakeDigests([attach], relations)).toEqual(here);
  // They take days from the names of files, which are other ones there.
  const breakdowns = ['figures_by_country()', 'figures_by_country(days := 1)', 'reversals_by_source()'];
  for (const opening of [byS3, [attach]])
    expect(await lakeDigests([...opening, 'USE lake'], breakdowns)).toEqual(
      await digestsOf(`${data.published}/${newest}`, breakdowns),
    );
});
