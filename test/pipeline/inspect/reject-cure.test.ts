import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rejectCure } from '../../../src/pipeline/inspect/reject-cure.ts';
import { clickSchema, conversionSchema } from '../../../src/pipeline/landing/logs/log-fields.ts';

const reading = { wallClock: '2026-11-18T00:00:00Z' };
const catalogFolder = join(import.meta.dirname, '../../../src/pipeline/landing/catalog');

/** Reasons that the rules of logs have, and those that the reader of catalogs names. */
const reasons = new Set([
  ...[clickSchema(reading), conversionSchema(reading)].flatMap(({ fields }) =>
    fields.flatMap(({ faults }) => faults.map(({ reason }) => reason)),
  ),
  ...readdirSync(catalogFolder).flatMap((name) =>
    [...readFileSync(join(catalogFolder, name), 'utf8').matchAll(/RecordReject\('(\w+)'\)/g)].map(
      ([, reason = '']) => reason,
    ),
  ),
]);

it('every reason has a cure that is not the one of unknown reasons', () => {
  expect(reasons.size).toBeGreaterThan(25);
  expect([...reasons].filter((reason) => rejectCure(reason) === rejectCure('no such reason'))).toEqual([]);
});

it.for([
  ['timestamp_without_offset', '"zone"'],
  ['bad_occurred_at', '"time"'],
  ['bad_payout', '"number"'],
  ['missing_click_id', 'map click_id'],
  ['no_rate', '"rates"'],
  ['constructor', 'the sender'],
] as const)('%s: %s', ([reason, words]) => {
  expect(rejectCure(reason)).toContain(words);
});
