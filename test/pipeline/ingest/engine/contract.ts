import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { IngestInput } from '../../../../src/pipeline/ingest/ingest-stage.ts';
import { realEffects, type Effects } from '../../../../src/kit/files/effects.ts';
import { eventKey } from '../../../../src/kit/vocabulary/event-key.ts';
import { click, conversion, csv, LogLanding, ndjson } from '../../../support/log-landing.ts';

type Engine = NonNullable<IngestInput['engine']>;

/**
 * What every engine has to do alike: the whole ingest, with its ledger, commits and look-ups, on top of it. `rounds`:
 * how many random landings are tried; an engine that is a cluster takes seconds for each.
 */
export function engineContract(name: string, engine: Engine, rounds: number): void {
  const ingest = (landing: LogLanding) => landing.ingest({}, { engine });

  describe(`engine ${name}`, () => {
    it('keeps the first of equal clicks, by path and then line, whatever day a copy claims', async () => {
      await using landing = await LogLanding.create();
      await landing.put('clicks/b.ndjson', [click('c1', { sub1: 'second file' }), click('c2')]);
      await landing.put('clicks/a.ndjson', [
        click('c1', { sub1: 'first' }),
        click('c1', { sub1: 'second line', clicked_at: '2026-11-17T10:00:00Z' }),
        click('c1', { sub1: 'first' }),
      ]);
      await ingest(landing);
      expect(await landing.events('clicks', 'click_id, sub1')).toEqual([
        { click_id: 'c1', sub1: 'first' },
        { click_id: 'c2', sub1: null },
      ]);
      expect(await landing.ledger()).toEqual(['clicks/a.ndjson loaded 3=1+2+0', 'clicks/b.ndjson loaded 2=1+1+0']);
      expect(await landing.query('SELECT path, conflicts FROM ingest_files ORDER BY path')).toEqual([
        { path: 'clicks/a.ndjson', conflicts: 1 },
        { path: 'clicks/b.ndjson', conflicts: 1 },
      ]);
    });

    it('knows what earlier runs brought, on any day', async () => {
      await using landing = await LogLanding.create();
      for (const day of [1, 2, 3])
        await landing.put(`clicks/${day}.ndjson`, [click(`c${day}`, { clicked_at: `2026-11-0${day}T10:00:00Z` })]);
      await ingest(landing);
      await landing.put('clicks/later.ndjson', [
        click('c1', { clicked_at: '2026-11-09T10:00:00Z' }),
        click('c3', { clicked_at: '2026-11-03T10:00:00Z' }),
        click('c4'),
      ]);
      await landing.put('conversions/0.ndjson', [conversion('v1'), conversion('v1', { kind: 'reject' })]);
      await ingest(landing);
      await landing.put('conversions/1.ndjson', [conversion('v1'), conversion('v1', { kind: 'chargeback' })]);
      await ingest(landing);
      expect((await landing.ledger()).slice(3)).toEqual([
        'clicks/later.ndjson loaded 3=1+2+0',
        'conversions/0.ndjson loaded 2=2+0+0',
        'conversions/1.ndjson loaded 2=1+1+0',
      ]);
      expect(await landing.query('SELECT sum(conflicts) AS conflicts FROM ingest_files')).toEqual([{ conflicts: 1 }]);
    });

    it('rejects a bad row with its line and text, and counts what is odd in a good one', async () => {
      await using landing = await LogLanding.create();
      const odd = click('c2', { device: 'fridge', other: 1, sub2: 'ü"\\' });
      await landing.put('clicks/0.ndjson', [click('c1'), 'no object', odd, click('c3', { clicked_at: 'noon' })]);
      await landing.put('clicks/1.csv', csv([click('c4'), click('c5', { user_id: '' })]));
      await landing.put('clicks/2.ndjson.gz', gzipSync(ndjson([click('c6'), '{"click_id": "c7"', ''])));
      await landing.put('clicks/3.ndjson.gz', gzipSync(ndjson([click('c8')])).subarray(0, 30));
      await ingest(landing);
      expect(await landing.ids('clicks')).toEqual(['c1', 'c2', 'c4', 'c6']);
      expect(await landing.rejects()).toEqual([
        'clicks/0.ndjson:2 not_json_object',
        'clicks/0.ndjson:4 bad_clicked_at',
        'clicks/1.csv:3 missing_user_id',
        'clicks/2.ndjson.gz:2 not_json_object',
      ]);
      expect(await landing.query(`SELECT raw FROM rejects WHERE path = 'clicks/0.ndjson' AND line = 2`)).toEqual([
        { raw: 'no object' },
      ]);
      expect(await landing.warnings()).toEqual([
        'clicks/0.ndjson bad_device device 1',
        'clicks/0.ndjson unknown_field other 1',
      ]);
      expect((await landing.ledger()).at(-1)).toContain('clicks/3.ndjson.gz quarantined');
    });

    it('lays events by UTC day under portable keys, and counts clicks by hour and offer', async () => {
      await using landing = await LogLanding.create();
      const named = { offer_id: undefined, source: 'north', external_id: 'x' };
      await landing.put('clicks/0.ndjson', [
        click('early', { clicked_at: '0001-01-01T00:00:00Z' }),
        click('before midnight', { clicked_at: '2026-11-17T23:59:59.999999Z' }),
        click('by offset', { clicked_at: '2026-11-18T01:30:00+02:00' }),
        click('named', { ...named, clicked_at: '2026-11-18T10:59:00Z' }),
        click('named too', { ...named, clicked_at: '2026-11-18T10:00:00Z' }),
        click('plain'),
      ]);
      await ingest(landing);
      expect(await landing.query('SELECT day::VARCHAR AS day, rows FROM event_files ORDER BY day')).toEqual([
        { day: '0001-01-01', rows: 1 },
        { day: '2026-11-17', rows: 2 },
        { day: '2026-11-18', rows: 3 },
      ]);
      expect(await landing.events('clicks', `event_key = ${eventKey.clicks} AS right_key`)).toEqual(
        Array.from({ length: 6 }, () => ({ right_key: true })),
      );
      expect(await landing.query('SELECT * FROM click_hourly ORDER BY hour, source')).toEqual([
        { hour: '0001-01-01T00:00:00Z', offer_id: 7, source: '', external_id: '', clicks: 1 },
        { hour: '2026-11-17T23:00:00Z', offer_id: 7, source: '', external_id: '', clicks: 2 },
        { hour: '2026-11-18T10:00:00Z', offer_id: 7, source: '', external_id: '', clicks: 1 },
        { hour: '2026-11-18T10:00:00Z', offer_id: 0, source: 'north', external_id: 'x', clicks: 2 },
      ]);
    });

    it('finds the clicks that conversions name, in this run, in earlier ones and once they come', async () => {
      await using landing = await LogLanding.create();
      await landing.put('clicks/0.ndjson', [click('old', { clicked_at: '2026-10-01T00:00:00Z' })]);
      await ingest(landing);
      await landing.put('clicks/1.ndjson', [click('new')]);
      await landing.put(
        'conversions/0.ndjson',
        ['old', 'new', 'later', 'never'].map((of) => conversion(`v-${of}`, { click_id: of })),
      );
      await ingest(landing);
      await landing.put('clicks/2.ndjson', [click('later', { clicked_at: '2026-09-01T00:00:00Z' })]);
      await ingest(landing);
      expect(await landing.query('SELECT click_id, clicked_at FROM conversion_clicks ORDER BY click_id')).toEqual([
        { click_id: 'later', clicked_at: '2026-09-01T00:00:00Z' },
        { click_id: 'new', clicked_at: '2026-11-18T10:00:00Z' },
        { click_id: 'old', clicked_at: '2026-10-01T00:00:00Z' },
      ]);
      expect(await landing.query('SELECT click_id FROM waiting_clicks')).toEqual([{ click_id: 'never' }]);
    });

    it('begins anew where an earlier try ended anywhere', async () => {
      await using landing = await LogLanding.create();
      await landing.put('clicks/0.ndjson', [click('c1'), click('c1'), 'bad']);
      await landing.put('conversions/0.ndjson', [conversion('v1')]);
      const steps: string[] = [];
      const noting: Effects = {
        ...realEffects,
        perform: (step, work) => (steps.push(step), work()),
      };
      await using example = await LogLanding.create();
      await example.put('clicks/0.ndjson', [click('c1')]);
      await example.put('conversions/0.ndjson', [conversion('v1')]);
      await example.ingest({ effects: noting }, { engine });
      for (const failing of new Set(steps)) {
        const effects: Effects = {
          ...realEffects,
          perform: async (step, work) => {
            const done = await work();
            if (step === failing) throw new Error(step);
            return done;
          },
        };
        if (failing.endsWith('committed')) continue;
        await expect(landing.ingest({ effects }, { engine }), failing).rejects.toThrow(failing);
      }
      await ingest(landing);
      expect(await landing.ledger()).toEqual(['clicks/0.ndjson loaded 3=1+1+1', 'conversions/0.ndjson loaded 1=1+0+0']);
      expect(await landing.ids('clicks')).toEqual(['c1']);
    });

    agreesWithDefinition(ingest, rounds);
  });
}

/** The one promise of the contract that is about any landing: for an engine whose others are held by another way to it. */
export function engineAgreement(name: string, engine: Engine, rounds: number): void {
  describe(`engine ${name}`, () => {
    agreesWithDefinition((landing) => landing.ingest({}, { engine }), rounds);
  });
}

function agreesWithDefinition(ingest: (landing: LogLanding) => Promise<unknown>, rounds: number): void {
  it('agrees with the definition on any landing, in any number of runs', async () => {
    const files = fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-f]{1,2}$/),
        run: fc.nat(2),
        rows: fc.array(
          fc.record({ id: fc.nat(12), day: fc.integer({ min: 1, max: 4 }), says: fc.constantFrom('x', 'y') }),
          { minLength: 1, maxLength: 12 },
        ),
      }),
      { minLength: 1, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(files, async (drawn) => {
        await using landing = await LogLanding.create();
        const winners = new Map<string, string>();
        const expected: string[] = [];
        for (const run of [0, 1, 2]) {
          const ofRun = drawn
            .map((file, index) => ({ ...file, path: `clicks/${run}/${file.name}-${index}.ndjson` }))
            .filter((file) => file.run === run)
            .toSorted((a, b) => (a.path < b.path ? -1 : 1));
          for (const { path, rows } of ofRun) {
            const records = rows.map(({ id, day, says }) =>
              click(`c${id}`, { clicked_at: `2026-11-0${day}T00:00:00Z`, sub1: says, sub2: path }),
            );
            await landing.put(path, records);
            let accepted = 0;
            for (const { id, day, says } of rows) {
              if (winners.has(`c${id}`)) continue;
              winners.set(`c${id}`, `${day} ${says} ${path}`);
              accepted++;
            }
            expected.push(`${path} loaded ${rows.length}=${accepted}+${rows.length - accepted}+0`);
          }
          await ingest(landing);
        }
        const events = await landing.events<{ click_id: string; says: string }>(
          'clicks',
          `click_id, day(clicked_at) || ' ' || sub1 || ' ' || sub2 AS says`,
        );
        expect(new Map(events.map(({ click_id, says }) => [click_id, says]))).toEqual(winners);
        expect(await landing.ledger()).toEqual(expected);
      }),
      { numRuns: rounds },
    );
  });
}
