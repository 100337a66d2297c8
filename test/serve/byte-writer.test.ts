import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter } from '../../src/serve/pages/byte-writer.ts';
import { amountText } from '../../src/serve/offers/money.ts';

const part = fc.oneof(
  fc.record({ text: fc.string({ unit: 'binary', maxLength: 60 }) }),
  fc.record({ ascii: fc.string({ unit: 'grapheme-ascii', maxLength: 60 }) }),
  fc.record({ amount: fc.oneof(fc.nat(20_000), fc.maxSafeNat()) }),
  fc.record({ from: fc.nat(99), bytes: fc.nat(50) }),
);

test('holds the UTF-8 of all that was written, in whatever room it began, also when it is used again', () => {
  const source = new ByteWriter(8);
  source.text('é–'.repeat(40));
  const sourceBytes = Buffer.from(source.bytes);
  fc.assert(
    fc.property(
      fc.array(fc.array(part), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 64 }),
      (texts, room) => {
        const writer = new ByteWriter(room);
        for (const parts of texts) {
          writer.clear();
          const expected = Buffer.concat(
            parts.map((one) => {
              if ('text' in one) writer.text(one.text);
              else if ('ascii' in one) writer.ascii(one.ascii);
              else if ('amount' in one) writer.amount(one.amount);
              else writer.copy(source, one.from, one.from + one.bytes);
              if ('text' in one) return Buffer.from(one.text);
              if ('ascii' in one) return Buffer.from(one.ascii);
              if ('amount' in one) return Buffer.from(amountText(BigInt(one.amount)));
              return sourceBytes.subarray(one.from, one.from + one.bytes);
            }),
          );
          expect(writer.bytes.equals(expected)).toBe(true);
          expect(writer.length).toBe(expected.length);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('every amount below 100 USD is the shortest JSON number', () => {
  const writer = new ByteWriter(16);
  const wrong: string[] = [];
  for (let amount = 0; amount < 1_000_000; amount += amount < 20_000 ? 1 : 7) {
    writer.clear();
    writer.amount(amount);
    if (writer.bytes.toString() !== JSON.stringify(amount / 10_000)) wrong.push(writer.bytes.toString());
  }
  expect(wrong).toEqual([]);
});
