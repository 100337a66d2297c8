import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { defaultSettings, type Settings } from '../../../../src/kit/config/settings.ts';
import { realEffects } from '../../../../src/kit/files/effects.ts';
import { acceptHeldExport } from '../../../../src/pipeline/ingest/catalog/catalog-holds.ts';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { readRevision } from '../../../../src/pipeline/warehouse/metadata.ts';
import { it as itOfLanding } from '../../../support/landing-test.ts';
import type { LogLanding } from '../../../support/log-landing.ts';

type Source = Settings['sources'][string];
const settingsOf = (rates: Record<string, string>, net: Source = { mode: 'full' }): Settings => ({
  ...defaultSettings,
  rates,
  sources: { net },
});
const delta: Source = { mode: 'delta' };

const offer = (externalId: string, payout: string, currency?: string, fields: object = {}) => ({
  external_id: externalId,
  title: externalId,
  payout,
  ...(currency && { currency }),
  ...fields,
});

/** One source over runs an hour apart; files get times in the order of their landing. */
class NetSource {
  readonly landing: LogLanding;
  readonly messages: string[] = [];
  #hour = 0;
  #landed = 0;

  constructor(landing: LogLanding) {
    this.landing = landing;
  }

  async land(name: string, rows: readonly object[]): Promise<void> {
    const path = await this.landing.put(`offers/net/${name}.ndjson`, rows);
    const time = new Date(Date.UTC(2026, 10, 17, 0, ++this.#landed));
    await utimes(path, time, time);
  }

  /** A run; what it did, and whether anything changed of what is shown. */
  async run(
    settings: Settings,
  ): Promise<{ files: number; readAgain: number; offerVersions: number; changed: boolean }> {
    const before = await readRevision(this.landing.state.connection);
    const clock = `2026-11-18T${String(++this.#hour).padStart(2, '0')}:00:00Z`;
    const logger = createLogger(
      { write: (line: string) => this.messages.push((JSON.parse(line) as { msg: string }).msg) > 0 },
      'warn',
    );
    const { files, readAgain, offerVersions } = await this.landing.ingest({
      settings,
      logger,
      asOf: clock,
      wallClock: clock,
      effects: { ...realEffects, now: () => Date.parse(clock) },
    });
    return {
      files,
      readAgain,
      offerVersions,
      changed: (await readRevision(this.landing.state.connection)) !== before,
    };
  }

  /** `external_id status payout` of the present versions. */
  async catalog(): Promise<string[]> {
    const rows = await this.landing.query<{ entry: string }>(
      `SELECT external_id || ' ' || status || ' ' || payout::DOUBLE AS entry FROM offers JOIN offer_versions USING (offer_id)
       QUALIFY row_number() OVER (PARTITION BY offer_id ORDER BY version DESC) = 1 ORDER BY external_id`,
    );
    return rows.map(({ entry }) => entry);
  }
}

/** A test over `source`, whose files land in `landing`. */
const it = itOfLanding.extend<{ source: NetSource }>({
  source: ({ landing }, use) => use(new NetSource(landing)),
});

const unchanged = { files: 0, offerVersions: 0, changed: false };

describe('a full source', () => {
  it('says by itself what its last export says at another rate, with the same ids', async ({ landing, source }) => {
    await source.land('old', [offer('gone', '9', 'EUR')]);
    await source.run(settingsOf({ EUR: '1.10' }));
    await source.land('new', [
      offer('eur', '1.00', 'EUR'),
      offer('gbp', '2', 'gbp'),
      offer('usd', '3'),
      offer('bad', '-1', 'EUR'),
    ]);
    await source.run(settingsOf({ EUR: '1.10' }));
    expect(await source.catalog()).toEqual(['eur active 1.1', 'gone vanished 9.9', 'usd active 3.0']);
    const first = await landing.query(
      `SELECT offer_id, created_at FROM offer_versions JOIN offers USING (offer_id) WHERE external_id = 'eur'`,
    );

    expect(await source.run(settingsOf({ EUR: '1.10', SEK: '0.09' }))).toEqual({ ...unchanged, readAgain: 0 });
    expect(await source.run(settingsOf({ EUR: '1.20', GBP: '1.30' }))).toEqual({
      files: 0,
      readAgain: 1,
      offerVersions: 2,
      changed: true,
    });
    expect(await source.catalog()).toEqual(['eur active 1.2', 'gbp active 2.6', 'gone vanished 9.9', 'usd active 3.0']);
    expect(
      await landing.query(
        `SELECT DISTINCT offer_id, created_at FROM offer_versions JOIN offers USING (offer_id) WHERE external_id = 'eur'`,
      ),
    ).toEqual(first);
    expect(
      await landing.query(
        `SELECT valid_from, updated_at FROM offer_versions JOIN offers USING (offer_id) WHERE external_id = 'eur' AND version = 2`,
      ),
    ).toEqual([{ valid_from: '2026-11-18T04:00:00Z', updated_at: '2026-11-18T04:00:00Z' }]);
    expect(await landing.ledger()).toEqual([
      'offers/net/old.ndjson loaded 1=1+0+0',
      'offers/net/new.ndjson loaded 4=3+0+1',
    ]);
    expect(await landing.rejects()).toEqual(['offers/net/new.ndjson:4 bad_payout']);
    expect(await source.run(settingsOf({ EUR: '1.20', GBP: '1.30' }))).toEqual({ ...unchanged, readAgain: 0 });
    // A rate that is taken away refuses the row again, and the offer stays as it was.
    expect(await source.run(settingsOf({ EUR: '1.20' }))).toEqual({ ...unchanged, readAgain: 1, changed: true });
    expect(await source.catalog()).toEqual(['eur active 1.2', 'gbp active 2.6', 'gone vanished 9.9', 'usd active 3.0']);
    expect(source.messages).toEqual([]);
  });

  it('is not read again where its last export is there no more, or others have taken its name', async ({
    landing,
    source,
  }) => {
    await source.land('a', [offer('eur', '1', 'EUR')]);
    await source.run(settingsOf({ EUR: '1.1' }));
    await rm(join(landing.data.landing, 'offers/net/a.ndjson'));
    expect(await source.run(settingsOf({ EUR: '1.2' }))).toEqual({ ...unchanged, readAgain: 0 });
    await source.land('a', [offer('eur', '2', 'EUR')]);
    expect(await source.run(settingsOf({ EUR: '1.2' }))).toMatchObject({ files: 1, readAgain: 0 });
    expect(await source.catalog()).toEqual(['eur active 2.4']);
  });

  it('leaves the word to a newer export that lands with the other rate', async ({ landing, source }) => {
    await source.land('a', [offer('eur', '1', 'EUR')]);
    await source.run(settingsOf({ EUR: '1.1' }));
    await source.land('b', [offer('eur', '2', 'EUR')]);
    await source.run(settingsOf({ EUR: '1.2' }));
    expect(await source.catalog()).toEqual(['eur active 2.4']);
    expect(await landing.ledger()).toEqual([
      'offers/net/a.ndjson loaded 1=1+0+0',
      'offers/net/b.ndjson loaded 1=1+0+0',
    ]);
    expect(source.messages).toEqual([]);
  });

  it('is read again for its time zone, and says nothing new where no time lacks an offset', async ({
    landing,
    source,
  }) => {
    await source.land('a', [
      offer('local', '1', undefined, { created_at: '2026-01-01T00:00:00' }),
      offer('offset', '1', undefined, { created_at: '2026-01-01T00:00:00Z' }),
    ]);
    await source.run(settingsOf({}));
    expect(await source.catalog()).toEqual(['offset active 1.0']);
    expect(await source.run(settingsOf({}, { mode: 'full', time_zone: 'Europe/Berlin' }))).toEqual({
      files: 0,
      readAgain: 1,
      offerVersions: 1,
      changed: true,
    });
    expect(
      await landing.query(
        `SELECT created_at FROM offer_versions JOIN offers USING (offer_id) WHERE external_id = 'local'`,
      ),
    ).toEqual([{ created_at: '2025-12-31T23:00:00Z' }]);
    await source.land('b', [offer('offset', '1', undefined, { created_at: '2026-01-01T00:00:00Z' })]);
    await source.run(settingsOf({}, { mode: 'full', time_zone: 'Europe/Berlin' }));
    expect(await source.run(settingsOf({}, { mode: 'full', time_zone: 'UTC' }))).toEqual({
      ...unchanged,
      readAgain: 1,
    });
    expect(await source.run(settingsOf({}, { mode: 'full', time_zone: 'UTC' }))).toEqual({
      ...unchanged,
      readAgain: 0,
    });
  });
});

describe('a delta source', () => {
  it('says by itself what its files say at another rate, in their order', async ({ landing, source }) => {
    const settings = settingsOf({ EUR: '1.1' }, delta);
    await source.land('z', [offer('before', '5')]);
    await source.run(settings);
    await source.land('c', [offer('a', '1', 'EUR'), offer('b', '1', 'EUR'), offer('c', '1', 'GBP')]);
    await source.run(settings);
    await source.land('b', [offer('b', '7')]);
    await source.run(settings);
    await source.land('a', [offer('d', '1', 'EUR'), offer('x', '1', 'SEK')]);
    await source.run(settings);
    expect(await source.run(settingsOf({ EUR: '1.2', GBP: '1.3' }, delta))).toEqual({
      files: 0,
      readAgain: 3,
      offerVersions: 3,
      changed: true,
    });
    expect(await source.catalog()).toEqual([
      'a active 1.2',
      'b active 7.0',
      'before active 5.0',
      'c active 1.3',
      'd active 1.2',
    ]);
    expect(await landing.ledger()).toEqual([
      'offers/net/z.ndjson loaded 1=1+0+0',
      'offers/net/c.ndjson loaded 3=3+0+0',
      'offers/net/b.ndjson loaded 1=1+0+0',
      'offers/net/a.ndjson loaded 2=1+0+1',
    ]);
    expect(await source.run(settingsOf({ EUR: '1.2', GBP: '1.3' }, delta))).toEqual({ ...unchanged, readAgain: 0 });
  });

  it('does not let an older file speak over one that is there no more', async ({ landing, source }) => {
    for (const [name, payout] of [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ] as const) {
      await source.land(name, name === 'c' ? [offer('other', payout, 'EUR')] : [offer('same', payout, 'EUR')]);
      await source.run(settingsOf({ EUR: '1' }, delta));
    }
    await rm(join(landing.data.landing, 'offers/net/b.ndjson'));
    expect(await source.run(settingsOf({ EUR: '2' }, delta))).toMatchObject({ readAgain: 1 });
    expect(await source.catalog()).toEqual(['other active 6.0', 'same active 2.0']);
  });

  it('that was a full one: nothing that was removed comes back, and an export that was held adds what it has', async ({
    landing,
    source,
  }) => {
    await source.land('a', [offer('gone', '1', 'EUR')]);
    await source.run(settingsOf({ EUR: '1' }));
    await source.land(
      'b',
      Array.from({ length: 10 }, (_, index) => offer(`o${index}`, '1', 'EUR')),
    );
    await source.run(settingsOf({ EUR: '1' }));
    await source.land('c', [offer('new', '1')]);
    await source.run(settingsOf({ EUR: '1' }));
    expect(await landing.ledger()).toContain('offers/net/c.ndjson held would_remove 10 of 10 1=1+0+0');
    expect(await source.run(settingsOf({ EUR: '1' }, delta))).toEqual({
      files: 0,
      readAgain: 1,
      offerVersions: 1,
      changed: true,
    });
    expect(await landing.ledger()).toContain('offers/net/c.ndjson loaded 1=1+0+0');
    await source.run(settingsOf({ EUR: '2' }, delta));
    expect(await source.catalog()).toEqual([
      'gone vanished 1.0',
      'new active 1.0',
      ...Array.from({ length: 10 }, (_, index) => `o${index} active 2.0`),
    ]);
  });

  it('that turns out to be a full one: its last file decides, and waits where it would remove too much', async ({
    landing,
    source,
  }) => {
    await source.land(
      'a',
      Array.from({ length: 10 }, (_, index) => offer(`o${index}`, '1')),
    );
    await source.run(settingsOf({}, delta));
    await source.land('b', [offer('o0', '2')]);
    await source.run(settingsOf({}, delta));
    for (const again of [1, 0, 0])
      expect(await source.run(settingsOf({}))).toMatchObject({ readAgain: again, offerVersions: 0 });
    expect(await landing.ledger()).toEqual([
      'offers/net/a.ndjson loaded 10=10+0+0',
      'offers/net/b.ndjson held would_remove 9 of 10 1=1+0+0',
    ]);
    await acceptHeldExport(landing.state.connection, 2);
    await source.run(settingsOf({}));
    expect((await source.catalog()).filter((entry) => entry.includes('active'))).toEqual(['o0 active 2.0']);
  });
});
