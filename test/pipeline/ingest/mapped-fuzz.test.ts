import fc from 'fast-check';
import { expect } from 'vitest';
import { fileMappingSchema } from '../../../src/kit/intake/mapping/mapping-schema.ts';
import { settingsSchema } from '../../../src/kit/config/settings.ts';
import { it } from '../../support/landing-test.ts';
import { anyMappedFile, anyMapping } from '../../support/any-mapping.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { rounds } from '../../support/rounds.ts';

/* No mapping and no file may end a run, or lose a row without a word. */

it('a mapping, whatever it says, ends no run and accounts for every record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anyMapping, anyMappedFile), { minLength: 3, maxLength: 5 }), async (pairs) => {
      await using landing = await LogLanding.create();
      const files: object[] = [];
      const landed = new Map<string, number>();
      for (const [index, [{ kind, ...says }, { name, text, records }]] of pairs.entries()) {
        const written = { match: `${kind}/of-${index}/**`, ...says };
        // What the configuration refuses never reaches a file.
        if (!fileMappingSchema.safeParse(written).success) continue;
        files.push(written);
        // Bytes count once per kind.
        const unlike = name.endsWith('.json') ? `${' '.repeat(index)}${text}` : `${'\n'.repeat(index)}${text}`;
        await landing.put(`${kind}/of-${index}/${name}`, unlike);
        landed.set(`${kind}/of-${index}/${name}`, records);
      }
      for (const rates of [{}, { EUR: '1.1' }]) {
        await landing.ingest({ settings: settingsSchema.parse({ files, rates }) });
        const rows = await landing.query<{
          path: string;
          status: string;
          counted: number;
          rows: number;
          aside: number;
        }>(
          `SELECT path, status, accepted + duplicates + rejected AS counted, rows,
             coalesce((SELECT sum(w.rows) FROM ingest_warnings AS w WHERE w.file_id = f.file_id AND warning = 'passed_over'), 0) AS aside
           FROM ingest_files AS f ORDER BY path`,
        );
        expect(rows.map(({ path }) => path)).toEqual([...landed.keys()].toSorted());
        for (const { path, status, counted, rows: all, aside } of rows) {
          expect([path, counted]).toEqual([path, all]);
          const records = landed.get(path) ?? 0;
          // A row of state may become two events.
          const most = path.startsWith('conversions') ? 2 * records : records;
          expect([path, status, all + aside >= records, all + aside <= most]).toEqual([path, 'loaded', true, true]);
        }
      }
    }),
    { numRuns: rounds(6, 15), endOnFailure: true },
  );
});

it('mappings in turn, whatever they say, end no run, and what was accepted stays', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMapping, { minLength: 4, maxLength: 8 }),
      fc.array(anyMappedFile, { minLength: 1, maxLength: 3 }),
      async (mappings, mapped) => {
        await using landing = await LogLanding.create();
        const byKind = Map.groupBy(mappings, ({ kind }) => kind);
        for (const kind of ['clicks', 'conversions'])
          for (const [index, { name, text }] of mapped.entries())
            await landing.put(`${kind}/net/${index}-${name}`, text);
        let before = new Map<string, number>();
        const turns = Math.max(...[...byKind.values()].map(({ length }) => length));
        for (let turn = 0; turn < turns; turn++) {
          const files = [...byKind].flatMap(([kind, ofKind]) => {
            const { kind: _, ...says } = ofKind[turn % ofKind.length] as (typeof ofKind)[number];
            const written = { match: `${kind}/net/**`, ...says };
            return fileMappingSchema.safeParse(written).success ? [written] : [];
          });
          await landing.ingest({ settings: settingsSchema.parse({ files }) });
          const rows = await landing.query<{
            path: string;
            accepted: number;
            counted: number;
            rows: number;
            least: number;
          }>(
            `SELECT path, accepted, accepted + duplicates + rejected AS counted, rows, least(accepted, duplicates, rejected, conflicts) AS least
             FROM ingest_files ORDER BY path`,
          );
          for (const { path, accepted, counted, rows: all, least } of rows)
            expect([path, counted, least >= 0, accepted >= (before.get(path) ?? 0)]).toEqual([path, all, true, true]);
          before = new Map(rows.map(({ path, accepted }) => [path, accepted]));
          const [stored] = await landing.query<{ events: number }>('SELECT sum(rows) AS events FROM event_files');
          expect(stored?.events ?? 0).toBe([...before.values()].reduce((sum, accepted) => sum + accepted, 0));
        }
      },
    ),
    { numRuns: rounds(6, 15), endOnFailure: true },
  );
});
