import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/kit/errors/errors.ts';
import { pointsText, parseAmount } from '../../../../src/kit/text/decimal-text.ts';
import { parsePublisherList } from '../../../../src/pipeline/analysis/reconcile/publisher-file.ts';

const read = (...lines: string[]) => parsePublisherList(lines.join('\n'), 'list.csv');
const million = 1_000_000_000n;

describe("a publisher's list", () => {
  it('is read with the headers, separators and words of other people', () => {
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
      read(
        'click_id,conversion_id,reward,state,time',
        'c1,v1,1.25,credited,2026-03-01T10:00:00Z',
        'c2,v2,2,charged_back,2026-03-02',
      ).rewards,
    ).toEqual(expected);
    expect(
      read(
        'Date;Click ID;Transaction-Id;Amount;Status',
        '2026-03-01 10:00;c1;v1;1.250;Approved',
        '"2026-03-02";"c2";"v2";"2.00";"Chargeback"',
      ).rewards,
    ).toEqual(expected);
    expect(
      read(
        'CLICKID\tTxnId\tPoints\tEvent\tcreated_at\r',
        'c1\tv1\t1.25\tcredit\t2026-03-01T12:00:00.000+02:00\r',
        'c2\tv2\t-2\tcredit\t2026-03-02T00:00:00Z\r',
        '',
      ).rewards,
    ).toEqual(expected);
  });

  it('needs nothing but click ids', () => {
    expect(read('Click', 'c1', '', 'c2')).toEqual({
      columns: { click_id: 'Click' },
      ignored: [],
      rewards: [
        { line: 2, clickId: 'c1', state: 'credited' },
        { line: 4, clickId: 'c2', state: 'credited' },
      ],
    });
  });

  it('takes the likeliest column of several, and returns those it does not use', () => {
    const { columns, ignored, rewards } = read('payout,reward,click_id,user', '9,1,c1,u1');
    expect({ columns, ignored }).toEqual({
      columns: { click_id: 'click_id', reward: 'reward' },
      ignored: ['payout', 'user'],
    });
    expect(rewards[0]?.amount).toBe(million);
  });

  it('counts lines through quoted line ends, and takes quotes within', () => {
    const { rewards } = read('click_id,note,amount', 'c1,"two', 'lines, and ""quotes""",1', 'c2,,2');
    expect(rewards.map(({ line, clickId }) => [line, clickId])).toEqual([
      [2, 'c1'],
      [4, 'c2'],
    ]);
  });

  it.each([
    [
      'no click id column',
      ['user,amount', 'u,1'],
      'list.csv line 1: no column is named click_id; the header row says user, amount',
    ],
    ['nothing at all', [''], 'list.csv line 1: no column is named click_id; the header row says nothing'],
    ['an empty click id', ['click_id,amount', ',1'], 'list.csv line 2: the click id is empty'],
    [
      'a thousands separator',
      ['click_id;amount', 'c1;1', 'c2;1,250'],
      'list.csv line 3: "1,250" is no amount; write it like 1250 or 12.50',
    ],
    ['an unknown state', ['click_id,status', 'c1,maybe'], 'list.csv line 2: the state "maybe" is none of credited'],
    ['a day that does not exist', ['click_id,time', 'c1,2026-02-30'], 'list.csv line 2: "2026-02-30" is no time'],
    ['too many cells', ['click_id,amount', 'c1,1,2'], 'list.csv line 2: it has 3 cells, the header has 2'],
    ['an open quote', ['click_id,amount', 'c1,"1', 'c2,2'], 'list.csv line 2: a quote is opened and never closed'],
    ['text behind a quote', ['click_id,amount', '"c1"x,1'], 'list.csv line 2: there is text behind a closing quote'],
  ])('with %s is refused by file and line', (_, lines, message) => {
    expect(() => read(...lines)).toThrow(UsageError);
    expect(() => read(...lines)).toThrow(message);
  });

  it('takes a quoted cell of any length, and says of a giant one what it is', () => {
    const long = 'x'.repeat(20_000_000);
    expect(read('click_id,note,amount', `c1,"${long}",1`, `c2,"${'""'.repeat(5_000_000)}",2`).rewards).toMatchObject([
      { line: 2, clickId: 'c1', amount: million },
      { line: 3, clickId: 'c2', amount: 2n * million },
    ]);
    for (const giant of [long, `"${long}"`])
      expect(() => read('click_id,amount', `${giant},1`)).toThrow(
        'list.csv line 2: the cell of "click_id" has 20000000 characters; at most 1000 are read',
      );
  });

  it('reports several mistakes at once, not all', () => {
    const lines = Array.from({ length: 20 }, () => 'c1,x');
    expect(() => read('click_id,amount', ...lines)).toThrow(/^(list\.csv line [2-6]: .*\n?){5}$/);
  });
});

it('amounts are exact', () => {
  for (const text of ['0', '1', '0.1', '0.000000001', '123456789012345.999999999', '-2.5'])
    expect(pointsText(parseAmount(text) as bigint)).toBe(text);
  for (const text of ['', '.5', '1.', '1e3', '+1', '1,5', '1.0000000001', '$1'])
    expect(parseAmount(text), text).toBeUndefined();
  expect(pointsText((parseAmount('0.1') as bigint) + (parseAmount('0.2') as bigint))).toBe('0.3');
});
