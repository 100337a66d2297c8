import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/kit/errors/errors.ts';
import { pointsText, parseAmount } from '../../../../src/kit/text/decimal-text.ts';
import { readListMapping } from '../../../../src/pipeline/analysis/reconcile/list-mapping.ts';
import { readPublisherFile } from '../../../../src/pipeline/analysis/reconcile/publisher-file.ts';
import { UnreadableRowsError } from '../../../../src/pipeline/analysis/reconcile/unreadable-rows.ts';
import { parquet } from '../../../support/parquet.ts';

const folder = mkdtempSync(join(tmpdir(), 'offerline-lists-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads a list that has these bytes, by a mapping where one is given. */
async function readList(content: string | Uint8Array, mapping?: object) {
  const file = join(folder, 'list.csv');
  writeFileSync(file, content);
  const rules = join(folder, 'mapping.json');
  if (mapping !== undefined) writeFileSync(rules, JSON.stringify(mapping));
  return readPublisherFile(file, mapping && readListMapping(rules)).catch((error: UsageError) => {
    error.message = error.message.replaceAll(file, 'list.csv').replaceAll(rules, 'mapping.json');
    throw error;
  });
}

const read = (...lines: string[]) => readList(lines.join('\n'));
const rewardsOf = async (...lines: string[]) => (await read(...lines)).rewards;
const amountsOf = async (...texts: string[]) =>
  (await read('click_id;amount', ...texts.map((text, index) => `c${index};${text}`))).rewards.map(
    ({ amount, state }) => `${state === 'charged_back' ? '-' : ''}${pointsText(amount as bigint)}`,
  );
const million = 1_000_000_000n;

describe("a publisher's list", () => {
  it('is read with the headers, separators and words of other people', async () => {
    const expected = [
      {
        line: 2,
        clickId: 'c1',
        conversionId: 'v1',
        amount: (5n * million) / 4n,
        state: 'credited',
        time: '2026-03-01T10:00:00Z',
      },
      {
        line: 3,
        clickId: 'c2',
        conversionId: 'v2',
        amount: 2n * million,
        state: 'charged_back',
        time: '2026-03-02T00:00:00Z',
      },
    ];
    expect(
      await rewardsOf(
        'click_id,conversion_id,reward,state,time',
        'c1,v1,1.25,credited,2026-03-01T10:00:00Z',
        'c2,v2,2,charged_back,2026-03-02',
      ),
    ).toEqual(expected);
    expect(
      await rewardsOf(
        'Date;Click ID;Transaction-Id;Amount;Status',
        '2026-03-01 10:00;c1;v1;1.250;Approved',
        '"2026-03-02";"c2";"v2";"2.00";"Chargeback"',
      ),
    ).toEqual(expected);
    expect(
      await rewardsOf(
        'CLICKID\tTxnId\tPoints\tEvent\tcreated_at\r',
        'c1\tv1\t1.25\tcredit\t2026-03-01T12:00:00.000+02:00\r',
        'c2\tv2\t-2\tcredit\t2026-03-02T00:00:00Z\r',
        '',
      ),
    ).toEqual(expected);
  });

  it('needs nothing but click ids', async () => {
    expect(await read('Click', 'c1', '', 'c2')).toEqual({
      columns: { click_id: 'Click' },
      ignored: [],
      passedOver: [],
      notes: [],
      rewards: [
        { line: 2, clickId: 'c1', state: 'credited' },
        { line: 4, clickId: 'c2', state: 'credited' },
      ],
    });
  });

  it('takes the likeliest column of several, and returns those it does not use', async () => {
    const { columns, ignored, rewards } = await read('payout,reward,click_id,user', '9,1,c1,u1');
    expect({ columns, ignored }).toEqual({
      columns: { click_id: 'click_id', reward: 'reward' },
      ignored: ['payout', 'user'],
    });
    expect(rewards[0]?.amount).toBe(million);
  });

  it('counts lines through quoted line ends, and takes quotes within', async () => {
    const { rewards } = await read('click_id,note,amount', 'c1,"two', 'lines, and ""quotes""",1', 'c2,,2');
    expect(rewards.map(({ line, clickId }) => [line, clickId])).toEqual([
      [2, 'c1'],
      [4, 'c2'],
    ]);
  });

  it.each([
    [
      'no click id column',
      ['user,amount', 'u,1'],
      'list.csv line 1: no column is named click_id; the header row says user, amount. Name the column so, or say by --mapping which one it is',
    ],
    [
      'nothing at all',
      [''],
      'list.csv line 1: no column is named click_id; the header row says nothing. Name the column so, or say by --mapping which one it is',
    ],
    ['an empty click id', ['click_id,amount', ',1'], 'list.csv line 2: the click id is empty'],
    [
      'an amount with a fraction or with thousands',
      ['click_id;amount', 'c1;1', 'c2;1,250'],
      'list.csv line 3: "1,250" may have a fraction or thousands, and the other amounts do not decide it',
    ],
    ['a thousand by its letter', ['click_id,amount', 'c1,12k'], 'list.csv line 2: "12k" is no amount'],
    [
      'a day or a month first',
      ['click_id,date', 'c1,03/04/2026 10:00'],
      'list.csv line 2: "03/04/2026 10:00" may name two days',
    ],
    [
      'two currencies',
      ['click_id;amount', 'c1;1 €', 'c2;€2', 'c3;$3'],
      'list.csv line 4: "$3" is in USD, and most amounts of "amount" are in EUR',
    ],
    ['an unknown state', ['click_id,status', 'c1,maybe'], 'list.csv line 2: the state "maybe" is none of credited'],
    ['a day that does not exist', ['click_id,time', 'c1,2026-02-30'], 'list.csv line 2: "2026-02-30" is no time'],
    ['too many cells', ['click_id,amount', 'c1,1,2'], 'list.csv line 2: it has 3 cells, the header has 2'],
    ['an open quote', ['click_id,amount', 'c1,"1', 'c2,2'], 'list.csv: row 2: a quote is opened and never closed'],
    ['text behind a quote', ['click_id,amount', '"c1"x,1'], 'list.csv: row 2: there is text behind a closing quote'],
  ])('with %s is refused by file and line', async (_, lines, message) => {
    await expect(read(...lines)).rejects.toThrow(UsageError);
    await expect(read(...lines)).rejects.toThrow(message);
  });

  it('takes a long cell, and says of a giant one what it is', async () => {
    const long = 'x'.repeat(2_000_000);
    expect(await rewardsOf('click_id,note,amount', `c1,"${long}",1`, `c2,"${'""'.repeat(500_000)}",2`)).toMatchObject([
      { line: 2, clickId: 'c1', amount: million },
      { line: 3, clickId: 'c2', amount: 2n * million },
    ]);
    for (const giant of [long, `"${long}"`])
      await expect(read('click_id,amount', `${giant},1`)).rejects.toThrow(
        'list.csv line 2: the cell of "click_id" has 2000000 characters; at most 1000 are read',
      );
    // No pattern is tried on it: over so many blanks one takes minutes.
    await expect(read('click_id,amount,time', `c1,1${' '.repeat(400_000)}!,2026-11-18`)).rejects.toThrow(
      'list.csv line 2: the cell of "amount" has 400002 characters; at most 1000 are read',
    );
    const blanks = `c1,-${' '.repeat(990)}!`;
    await expect(read('click_id,amount', ...Array.from({ length: 1000 }, () => blanks))).rejects.toThrow(
      'is no amount',
    );
    expect(await rewardsOf('click_id,amount', `c1,${'$  1'.padEnd(900)}`)).toMatchObject([{ amount: million }]);
    await expect(read('click_id,note', `c1,"${'x'.repeat(17_000_000)}"`)).rejects.toThrow(
      'list.csv: row 2 has more than',
    );
  });

  it('names every row that it cannot read, and folds the message', async () => {
    const lines = ['click_id,amount', ...Array.from({ length: 30 }, (_, index) => (index === 3 ? '"a\nb",1' : 'c1,x'))];
    const error = await read(...lines).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnreadableRowsError);
    const { rows, message } = error as UnreadableRowsError;
    // The row with two lines moves those behind it.
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4, ...Array.from({ length: 26 }, (_, index) => index + 7)]);
    expect(message.split('\n')).toHaveLength(21);
    expect(message).toMatch(/… and 9 more of 29; --json names all$/);
  });
});

describe('amounts of a list', () => {
  it.each<[written: string[], read: string[]]>([
    [
      ['1.234,56 €', '-2,50 €', '7 €'],
      ['1234.56', '-2.5', '7'],
    ],
    [
      ['$1,234.56', 'USD 3.20', '4 USD', '$5 USD'],
      ['1234.56', '3.2', '4', '5'],
    ],
    [
      ['1 234,5', '1\u00a0234', "1'234", '0,5'],
      ['1234.5', '1234', '1234', '0.5'],
    ],
    // One amount decides what the others mean.
    [
      ['1,234', '0.5'],
      ['1234', '0.5'],
    ],
    [
      ['1,234', '0,5'],
      ['1.234', '0.5'],
    ],
    [
      ['1.234', '12,50'],
      ['1234', '12.5'],
    ],
    [
      ['1.234.567', '1.234'],
      ['1234567', '1234'],
    ],
    [
      ['(5.00)', '6-', '\u22127', '250 points', '30 Pts.'],
      ['-5', '-6', '-7', '250', '30'],
    ],
  ])('%j are %j', async (written, amounts) => {
    expect(await amountsOf(...written)).toEqual(amounts);
  });

  it('with a point and three digits are ours, and it says so where no other amount does', async () => {
    const { rewards, notes } = await read('click_id,amount', 'c1,349.759', 'c2,1');
    expect(rewards[0]?.amount).toBe(349_759_000_000n);
    expect(notes.join()).toContain('"349.759" and the like are read with a decimal point');
    expect((await read('click_id,amount', 'c1,349.759', 'c2,1.5')).notes).toEqual([]);
  });

  it('that contradict one another decide nothing', async () => {
    await expect(amountsOf('1.50', '2,50', '1,234')).rejects.toThrow('line 4: "1,234" may have a fraction');
    expect(await amountsOf('1.50', '2,50')).toEqual(['1.5', '2.5']);
  });
});

describe('rows that are no rewards', () => {
  it('are titles above the header, totals and remarks, which are named', async () => {
    const list = await read(
      'Payouts of October;;',
      'Coin Quest Ltd.',
      '',
      'Click ID;Amount;Status',
      'c1;1,50;paid',
      ';;',
      'Subtotal;1,50;',
      'c2;2,50;ok',
      'Total;4,00;',
      'Made on 1 November 2026;;',
      ';4,00;',
    );
    expect(list.rewards.map(({ line, clickId }) => [line, clickId])).toEqual([
      [5, 'c1'],
      [8, 'c2'],
    ]);
    expect(list.passedOver.map(({ line }) => line)).toEqual([7, 9, 10, 11]);
    expect(list.passedOver[1]?.text).toContain('Total');
  });

  it('is none that lacks its click among others', async () => {
    await expect(read('click_id,amount', 'c1,1', ',2', 'c2,3')).rejects.toThrow('line 3: the click id is empty');
  });
});

describe('words of states', () => {
  const statesOf = async (...words: string[]) =>
    (await read('click_id,status', ...words.map((word, index) => `c${index},${word}`))).rewards.map(
      ({ state }) => state,
    );

  it.each([
    ['credited', ['approved', 'Paid', 'OK', 'paid out', 'credit', '']],
    ['rejected', ['rejected', 'Declined', 'cancelled', 'canceled', 'invalid', 'not found']],
    ['charged_back', ['chargeback', 'Charged back', 'REVERSED', 'refunded']],
    ['pending', ['pending', 'on hold', 'open']],
  ])('for %s are %j', async (state, words) => {
    expect(new Set(await statesOf(...words))).toEqual(new Set([state]));
  });

  it('are in no column of milestones', async () => {
    const { columns, rewards } = await read('click_id,event', 'c1,Level 10', 'c2,Install');
    expect([columns, rewards.length]).toEqual([{ click_id: 'click_id' }, 2]);
  });
});

describe('a list in any format', () => {
  const rewards = [
    { line: 2, clickId: 'c1', amount: (3n * million) / 2n, state: 'credited' },
    { line: 3, clickId: 'cé', amount: 2n * million, state: 'rejected' },
  ];
  const text = 'Click ID;Amount;Status\nc1;1,5;paid\ncé;2;declined';

  it('is told by its bytes', async () => {
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const bytes of [Buffer.from(text), utf16, gzipSync(text), Buffer.from(text.replaceAll(';', '|'))])
      expect((await readList(bytes)).rewards).toEqual(rewards);
    const records = [
      { clickId: 'c1', amount: 1.5, status: 'paid' },
      { clickId: 'cé', amount: 2, status: 'declined' },
    ];
    const numbered = rewards.map((reward) => ({ ...reward, line: reward.line - 1 }));
    for (const json of [JSON.stringify({ rewards: records }), records.map((each) => JSON.stringify(each)).join('\n')])
      expect((await readList(json)).rewards).toEqual(numbered);
    const xml = `<list>${records.map(({ clickId, amount, status }) => `<r clickId="${clickId}" amount="${amount}"><status>${status}</status></r>`).join('')}</list>`;
    const fields = { click_id: '@clickId', reward: '@amount' };
    expect((await readList(xml, { format: { records: 'list.r' }, fields })).rewards).toEqual(numbered);
    await expect(readList(xml)).rejects.toThrow('format.records');
  });

  it('is Parquet, whose numbers keep their digits and need no look at points and commas', async () => {
    const bytes = await parquet(`
      FROM (VALUES (123456789012345678, 1.234::DECIMAL(9, 3), 'paid', TIMESTAMPTZ '2026-03-01 10:00:00+00'), (2, 2, 'declined', NULL))
        AS t("Click ID", "Amount", "Status", "Time")`);
    expect((await readList(bytes)).rewards).toEqual([
      {
        line: 1,
        clickId: '123456789012345678',
        amount: 1_234_000_000n,
        state: 'credited',
        time: '2026-03-01T10:00:00Z',
      },
      { line: 2, clickId: '2', amount: 2n * million, state: 'rejected' },
    ]);
    await expect(readList(bytes.subarray(0, 100))).rejects.toThrow(/^list.csv cannot be read as Parquet: /);
    await expect(readList(gzipSync(bytes))).rejects.toThrow('list.csv: Parquet is packed in itself');
  });

  it('says what helps where its bytes do not', async () => {
    const latin = Buffer.from(text, 'latin1');
    await expect(readList(latin)).rejects.toThrow('{"format": {"encoding": "windows-1252"}}');
    expect((await readList(latin, { format: { encoding: 'windows-1252' } })).rewards).toEqual(rewards);
  });

  it('is a workbook with titles and a total', async () => {
    const statement = readFileSync(
      new URL('../../../../data/exports/workbook-statement/statement.xlsx', import.meta.url),
    );
    const list = await readList(statement, {
      rows: { at: 'Click Ref', not: [null, 'ow-1106'] },
      fields: { click_id: 'Click Ref', reward: 'Commission (USD)', time: { at: 'Order time', zone: 'Europe/Berlin' } },
    });
    expect(list.columns).toMatchObject({ click_id: 'Click Ref', conversion_id: 'Transaction ID', state: 'State' });
    expect(list.rewards.map(({ line, state, amount = 0n }) => [line, state, pointsText(amount)])).toEqual([
      [4, 'credited', '1.25'],
      [5, 'pending', '29.95'],
      [6, 'rejected', '0'],
      [7, 'credited', '1234.5'],
    ]);
    expect(list.rewards[3]?.time).toBe('2026-10-26T09:15:00Z');
  });
});

describe('a mapping', () => {
  it('says where fields stand, and what its numbers, words and times mean', async () => {
    const list = await readList('Ref,Sum,What,On\nc1,"1,234",good,18.11.26\nc2,"5,678",bad,19.11.26\n', {
      fields: {
        click_id: 'Ref',
        reward: { at: 'Sum', number: { group: ',' } },
        state: { at: 'What', words: { good: 'credited', bad: null } },
        time: { at: 'On', time: '%d.%m.%y', zone: 'UTC' },
      },
    });
    expect(list).toMatchObject({
      rewards: [{ line: 2, clickId: 'c1', amount: 1234n * million, time: '2026-11-18T00:00:00Z' }],
      passedOver: [{ line: 3 }],
      ignored: [],
    });
  });

  it('that says what there is not is refused by its key, and a value that it cannot read by line and column', async () => {
    await expect(readList('click_id\nc1\n', { fields: { payout: 'x' } })).rejects.toThrow('"payout": no field of ours');
    await expect(readList('click_id\nc1\n', { fields: { state: { value: 'credit' } } })).rejects.toThrow(
      'charged_back',
    );
    const fields = { reward: { at: 'amount', number: { decimal: ',' } } };
    await expect(readList('click_id,amount\nc1,1.5\n', { fields })).rejects.toThrow(
      'line 2: "amount" "1.5" is no number',
    );
  });
});

it('a list says the same in any dialect and form of its numbers', async () => {
  const reward = fc.record({
    clickId: fc.stringMatching(/^[a-z][a-z0-9]{2,8}$/),
    cents: fc.integer({ min: -9_999_999, max: 9_999_999 }),
    state: fc.constantFrom('approved', 'declined', 'pending', 'reversed'),
  });
  const form = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    marks: fc.constantFrom<[decimal: string, group: string]>(['.', ''], ['.', ','], [',', ''], [',', '.'], [',', ' ']),
    unit: fc.constantFrom<[before: string, behind: string]>(['', ''], ['$', ''], ['', ' €'], ['USD ', '']),
    titles: fc.constantFrom([], ['Payouts'], ['Payouts', '', 'October 2026']),
    total: fc.boolean(),
    blank: fc.boolean(),
    isQuoted: fc.boolean(),
    encoding: fc.constantFrom<BufferEncoding>('utf8', 'utf16le'),
    endsLine: fc.boolean(),
  });
  type Form = typeof form extends fc.Arbitrary<infer F> ? F : never;
  const amountIn = (cents: number, { marks: [decimal, group], unit: [before, behind] }: Form) => {
    const digits = String(Math.abs(cents)).padStart(3, '0');
    const whole = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, group);
    return `${cents < 0 ? '-' : ''}${before}${whole}${decimal}${digits.slice(-2)}${behind}`;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(reward, { minLength: 1, maxLength: 8 }), form, async (rewards, written) => {
      const cell = (text: string) => (written.isQuoted || text.includes(written.delimiter) ? `"${text}"` : text);
      const row = (...cells: string[]) => cells.map(cell).join(written.delimiter);
      const lines = [
        ...written.titles,
        row('Click ID', 'Amount', 'Status'),
        ...rewards.flatMap(({ clickId, cents, state }) => [
          row(clickId, amountIn(cents, written), state),
          ...(written.blank ? [''] : []),
        ]),
        ...(written.total ? [row('Total', amountIn(1, written), '')] : []),
      ];
      const text = lines.join(written.lineEnd) + (written.endsLine ? written.lineEnd : '');
      const mark = written.encoding === 'utf8' ? '' : '\ufeff';
      const list = await readList(Buffer.from(mark + text, written.encoding));
      const plain = await read(
        'click_id,reward,state',
        ...rewards.map(({ clickId, cents, state }) => `${clickId},${(cents / 100).toFixed(2)},${state}`),
      );
      const facts = (found: typeof list) =>
        found.rewards.map(({ clickId, amount, state }) => ({ clickId, amount, state }));
      expect(facts(list)).toEqual(facts(plain));
    }),
    { numRuns: 60 },
  );
});

it('amounts are exact', () => {
  for (const text of ['0', '1', '0.1', '0.000000001', '123456789012345.999999999', '-2.5'])
    expect(pointsText(parseAmount(text) as bigint)).toBe(text);
  for (const text of ['', '.5', '1.', '1e3', '+1', '1,5', '1.0000000001', '$1'])
    expect(parseAmount(text), text).toBeUndefined();
  expect(pointsText((parseAmount('0.1') as bigint) + (parseAmount('0.2') as bigint))).toBe('0.3');
});
