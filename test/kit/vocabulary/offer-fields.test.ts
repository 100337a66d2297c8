import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { offerFieldNames } from '../../../src/kit/vocabulary/offer-fields.ts';
import type {
  ConversionKind,
  DeliveryStatus,
  EventKind,
  FileStatus,
  LandingKind,
  VersionStatus,
} from '../../../src/kit/vocabulary/values.ts';
import type { Tables } from '../../../src/pipeline/warehouse/tables.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const generated = [
  'src/pipeline/warehouse/tables.ts',
  'src/pipeline/sql/model-rows.ts',
  'src/pipeline/sql/mart-columns.ts',
];

/** Hand-written files of the program and its SQL. */
const files = ['src', 'pipelines', 'sql'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((name) => /\.(ts|sql)$/.test(name) && !generated.includes(name)),
);
const texts = new Map(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
const naming = (field: string) =>
  [...texts].filter(([, text]) => new RegExp(`\\b${field}\\b`).test(text)).map(([name]) => name);

describe('a field of an offer', () => {
  it('is read, kept, fed and generated without being named there', () => {
    const deriving = [
      'src/pipeline/landing/catalog/canonical-offer.ts',
      'src/pipeline/landing/catalog/offer-record.ts',
      'src/pipeline/ingest/catalog/catalog-versions.ts',
      'src/pipeline/feed/feed-document.ts',
      'src/pipeline/snapshot/content/feed-files.ts',
      'sql/marts/feed_offers.sql',
      'src/demo/generate/network/canonical-records.ts',
    ];
    expect(deriving.filter((name) => !texts.has(name))).toEqual([]);
    for (const field of ['multi_complete', 'daily_cap', 'level', 'payment_term', 'preview_url'])
      expect(
        naming(field).filter((name) => deriving.includes(name)),
        field,
      ).toEqual([]);
  });

  it('has a column in the catalog', () => {
    expectTypeOf<(typeof offerFieldNames)[number]>().toExtend<keyof Tables['offer_versions']>();
    expect(offerFieldNames.length).toBeGreaterThan(20);
  });
});

it('the values of the vocabulary are those that the tables allow', () => {
  expectTypeOf<VersionStatus>().toEqualTypeOf<Tables['offer_versions']['status']>();
  expectTypeOf<ConversionKind>().toEqualTypeOf<Tables['conversion_events']['kind']>();
  expectTypeOf<ConversionKind>().toEqualTypeOf<Tables['outbox']['kind']>();
  expectTypeOf<EventKind>().toEqualTypeOf<Tables['event_files']['kind']>();
  expectTypeOf<LandingKind>().toEqualTypeOf<Tables['ingest_files']['kind']>();
  expectTypeOf<FileStatus>().toEqualTypeOf<Tables['ingest_files']['status']>();
  expectTypeOf<DeliveryStatus>().toEqualTypeOf<Tables['delivery_states']['state']>();
});
