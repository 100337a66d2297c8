import fc from 'fast-check';
import { expect, it } from 'vitest';
import { scalarText } from '../../../src/kit/intake/mapping/places.ts';
import { fileMappingSchema } from '../../../src/kit/intake/mapping/mapping-schema.ts';
import { isJsonObject, parseJson } from '../../../src/kit/text/json-text.ts';
import { MappedTable } from '../../../src/pipeline/landing/lines/mapped-table.ts';
import { anyMappedFile, anyMapping } from '../../support/any-mapping.ts';
import { linesOfFile, type FileRead } from '../../support/lines-of-file.ts';
import { slow } from '../../support/slow.ts';

/** The records of lines without the order of their fields, and whether a number has quotes. */
function recordsOf({ lines, firstRow, mapped }: FileRead): unknown {
  const records = lines.map((line) => {
    const record = parseJson(line);
    if (!isJsonObject(record)) return line;
    const { '~raw': _, ...fields } = record;
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, scalarText(value) ?? value]));
  });
  return { records, firstRow, passedOver: mapped?.passedOver };
}

it('rows of a table are mapped cell by cell as they are record by record', slow, async () => {
  let compared = 0;
  const tables = anyMappedFile.filter(({ name }) => name.endsWith('.csv'));
  await fc.assert(
    fc.asyncProperty(
      anyMapping,
      tables,
      fc.constantFrom({}, { EUR: '1.1' }),
      async ({ kind, ...says }, { text }, rates) => {
        const mapping = fileMappingSchema.safeParse({ match: `${kind}/**`, ...says });
        if (!mapping.success || !MappedTable.canMap({ mapping: mapping.data, rates })) return;
        const by = { mapping: mapping.data, rates };
        const byCell = await linesOfFile(text, { kind: mapping.data.kind, mapping: by });
        const byRecord = await linesOfFile(text, {
          kind: mapping.data.kind,
          mapping: { ...by, keepsRecords: true },
        });
        expect(recordsOf(byCell)).toEqual(recordsOf(byRecord));
        expect(byCell.mapped?.recordsBy).toEqual({});
        compared++;
      },
    ),
    { numRuns: 200 },
  );
  expect(compared).toBeGreaterThan(20);
});
