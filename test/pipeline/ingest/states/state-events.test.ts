import fc from 'fast-check';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  eventsOfStates,
  type EmittedState,
  type StateFile,
} from '../../../../src/pipeline/ingest/states/state-events.ts';
import { rejectKey } from '../../../../src/pipeline/landing/lines/mapped-line.ts';
import { slow } from '../../../support/slow.ts';

/** A list of states with what is kept between runs. */
class StateList {
  readonly #folder: string;
  readonly #emitted = new Map<string, EmittedState>();
  readonly #wallClock: string;
  #files = 0;

  static async create(wallClock = '2026-11-20T00:00:00Z'): Promise<StateList> {
    const folder = await mkdtemp(join(tmpdir(), 'offerline-states-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return new StateList(folder, wallClock);
  }

  private constructor(folder: string, wallClock: string) {
    this.#folder = folder;
    this.#wallClock = wallClock;
  }

  /** One run over files of rows, each changed last a second after the one before; gives its events and counts. */
  run(files: readonly (readonly (object | string)[])[]) {
    return this.#read(files.map((rows) => ({ number: ++this.#files, rows })));
  }

  /** A run that reads a file again, by its number from 1 on, with the rows that a mapping gives by now. */
  again(number: number, rows: readonly (object | string)[]) {
    return this.#read([{ number, rows, before: {} }]);
  }

  /** As if a conversion had been emitted under another id. */
  rename(id: string, to: string): void {
    this.#emitted.set(to, { ...(this.#emitted.get(id) as EmittedState), conversion_id: to });
    this.#emitted.delete(id);
  }

  async #read(files: readonly { number: number; rows: readonly (object | string)[]; before?: object }[]) {
    const landed: StateFile[] = [];
    for (const { number, rows, before } of files) {
      const path = join(this.#folder, `${String(number).padStart(4, '0')}.ndjson`);
      await writeFile(path, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n') + '\n');
      const modifiedNs = (1_795_000_000n + BigInt(number)) * 1_000_000_000n;
      const file = { path, readablePath: path, fileId: number, before, firstRow: 2, longLines: [], modifiedNs };
      landed.push(file as unknown as StateFile);
    }
    const { events, emitted } = await eventsOfStates(
      landed,
      async (ids) =>
        new Map(ids.flatMap((id) => (this.#emitted.has(id) ? [[id, this.#emitted.get(id) as EmittedState]] : []))),
      { wallClock: this.#wallClock, timeZone: undefined },
      ({ path }) => path,
    );
    for (const state of emitted) this.#emitted.set(state.conversion_id, state);
    const found: { line: number; event: Record<string, string> }[] = [];
    const counts = { emitted: 0, unchanged: 0, conflicts: 0 };
    for (const file of landed) {
      const of = events.get(file);
      if (of === undefined) throw new Error(`no events of ${file.path}`);
      counts.emitted += of.emitted;
      counts.unchanged += of.unchanged;
      counts.conflicts += of.conflicts;
      const add = async (path: string, lineOf: (index: number) => number) => {
        for (const [index, text] of (await readFile(path, 'utf8')).split('\n').entries())
          if (text !== '') found.push({ line: lineOf(index), event: JSON.parse(text) as Record<string, string> });
      };
      await add(of.lines.readablePath, (index) => index + 2);
      for (const { path, rows } of of.lines.longLines) await add(path, (index) => rows[index] ?? 0);
    }
    return { events: found, counts };
  }
}

const row = (fields: object = {}) => ({
  conversion_id: 'v',
  click_id: 'c',
  status: 'credit',
  occurred_at: '2026-11-18T10:00:00Z',
  payout: '1.5',
  ...fields,
});
const short = ({ line, event: { conversion_id: id, kind, payout } }: { line: number; event: Record<string, string> }) =>
  [line, id, kind, ...(payout === undefined ? [] : [payout])].join(' ');

describe('rows of state', () => {
  it('become the events that lead from what was emitted to what they say', async () => {
    const list = await StateList.create();
    const first = await list.run([
      [row(), row({ conversion_id: 'w', status: 'pending' }), row({ conversion_id: 'x', status: 'reject' })],
    ]);
    expect(first.events.map(short)).toEqual(['2 v credit 1.5', '3 w pending 1.5', '4 x reject 1.5']);
    expect(first.counts).toEqual({ emitted: 3, unchanged: 0, conflicts: 0 });
    const second = await list.run([
      [
        row({ payout: '1.50' }),
        row({ conversion_id: 'w' }),
        row({ conversion_id: 'x', payout: '6', event_id: 'level' }),
      ],
      [row({ payout: '2' }), row({ conversion_id: 'w', status: 'chargeback', reason: 'fraud' })],
    ]);
    expect(second.events.map(short)).toEqual([
      '3 w credit 1.5',
      '4 x~2 credit 6',
      '2 v chargeback',
      '3 w chargeback',
      '2 v~2 credit 2',
    ]);
    expect(second.events.map(({ event }) => event['event_id']).filter(Boolean)).toEqual(['level']);
    expect(second.counts).toEqual({ emitted: 4, unchanged: 1, conflicts: 0 });
    const third = await list.run([[row({ payout: '2' }), row({ conversion_id: 'w', status: 'pending' })]]);
    expect([third.events, third.counts.unchanged]).toEqual([[], 2]);
  });

  it('are of the same conversion however a number or the blanks of its id are written', async () => {
    const list = await StateList.create();
    const written = (id: string) => JSON.stringify(row({ conversion_id: 5 })).replace(':5,', `:${id},`);
    expect((await list.run([[written('5')]])).events.map(short)).toEqual(['2 5 credit 1.5']);
    const again = await list.run([[written('5.0'), written('5e0'), written('"5 "'), written('"5"')]]);
    expect([again.events, again.counts.unchanged]).toEqual([[], 4]);
    // An earlier version took the ids as they are written.
    for (const [id, as] of [
      ['5', '5.0'],
      ['5.0', '5 '],
    ] as const) {
      list.rename(id, as);
      const { events, counts } = await list.run([[written(as === '5.0' ? as : `"${as}"`)]]);
      expect([events, counts.unchanged]).toEqual([[], 1]);
    }
    list.rename('5 ', '5');
    const { events } = await list.run([[written('5.5'), written('" "'), row({ event_id: ['level'] })]]);
    // Landing rejects them: the first by its id, the others as said.
    expect(events.map(({ event }) => [event['conversion_id'], event[rejectKey]])).toEqual([
      [5.5, undefined],
      [' ', 'bad_conversion_id'],
      ['v', 'bad_event_id'],
    ]);
  });

  it('have reasons of 500 characters at most, without control characters', async () => {
    const list = await StateList.create();
    const { events } = await list.run([[row({ status: 'reject', reason: ` a\n${'b'.repeat(100_000)}` })]]);
    expect(events.map(({ event }) => event['reason'])).toEqual([`a ${'b'.repeat(498)}`]);
  });

  it('that are older than what was emitted bring nothing', async () => {
    const list = await StateList.create();
    await list.run([[row({ version: '10', payout: '3' })]]);
    const late = await list.run([[row({ version: '9', payout: '2' }), row({ version: '9.5', status: 'reject' })]]);
    expect([late.events, late.counts.unchanged]).toEqual([[], 2]);
    const times = await StateList.create();
    await times.run([[row({ changed_at: '2026-11-19T10:00:00+02:00' })]]);
    const later = await times.run([
      [row({ changed_at: '2026-11-19T07:59:59Z', status: 'reject' }), row({ changed_at: '2026-11-19T09:00:00Z' })],
    ]);
    expect(later.events).toEqual([]);
  });

  it('of a file that is read again bring what was rejected, and nothing that a later row has replaced', async () => {
    const list = await StateList.create();
    const unread = row({ conversion_id: 'w', status: 'gut' });
    const changing = [row({ conversion_id: 'x' }), row({ conversion_id: 'x', status: 'reject' })];
    await list.run([[row(), unread, ...changing, row({ conversion_id: 'y', status: 'schlecht' })]]);
    await list.run([[row({ status: 'reject' }), row({ conversion_id: 'y' })]]);
    const healed = [row(), row({ conversion_id: 'w' }), ...changing, row({ conversion_id: 'y', status: 'reject' })];
    const again = await list.again(1, healed);
    expect(again.events.map(short)).toEqual(['3 w credit 1.5']);
    // A row after the one that counted, in the same file.
    const later = await list.again(2, [row({ status: 'reject' }), row({ conversion_id: 'y' }), row()]);
    expect(later.events.map(short)).toEqual(['4 v~2 credit 1.5']);
  });

  it('bring no other amount where only the rate by which it is converted is another', async () => {
    const list = await StateList.create();
    const listed = (payout: string, amount: string) => row({ payout, listed: `${amount} EUR` });
    await list.run([[listed('5.4', '5')]]);
    expect((await list.run([[listed('5.45', '5')]])).events).toEqual([]);
    expect((await list.run([[listed('6.54', '6')]])).events.map(short)).toEqual([
      '2 v chargeback',
      '2 v~2 credit 6.54',
    ]);
  });

  it('change by now where they do not say when, and their file is dated ahead', async () => {
    const list = await StateList.create('2026-11-15T00:00:00Z');
    const [event] = (await list.run([[row({ status: 'reject', occurred_at: '2026-11-14T10:00:00Z' })]])).events;
    expect(event?.event['occurred_at']).toBe('2026-11-15T00:00:00Z');
  });

  it('of another click are about another conversion, and take nothing back', async () => {
    const list = await StateList.create();
    await list.run([[row()]]);
    const other = [row({ click_id: 'd', payout: '2' }), row({ click_id: 'd', status: 'reject' })];
    for (let times = 0; times < 2; times++) {
      const { events, counts } = await list.run([other, [row()]]);
      expect([events, counts]).toEqual([[], { emitted: 0, unchanged: 3, conflicts: 2 }]);
    }
    expect((await list.run([[row({ status: 'reject' })]])).events.map(short)).toEqual(['2 v reject']);
  });

  it('of another milestone are about another conversion where their list has the first one too', async () => {
    const list = await StateList.create();
    const first = row({ event_id: 'install' });
    const later = row({ event_id: 'level', payout: '4', occurred_at: '2026-11-18T11:00:00Z' });
    const unnamed = row({ payout: '3' });
    expect((await list.run([[first, later, unnamed]])).events.map(short)).toEqual(['2 v credit 1.5']);
    const { events, counts } = await list.run([[later, unnamed, first], [later]]);
    expect([events, counts]).toEqual([[], { emitted: 0, unchanged: 4, conflicts: 3 }]);
    expect((await list.run([[{ ...later, status: 'reject' }]])).events).toEqual([]);
    const taken = await list.run([[{ ...first, status: 'reject' }, later]]);
    expect(taken.events.map(short)).toEqual(['2 v reject', '3 v~2 credit 4']);
    expect((await list.run([[{ ...first, status: 'reject' }, later]])).counts).toMatchObject({ conflicts: 1 });
    expect((await list.run([[first], [{ ...later, payout: '5' }]])).events.map(short)).toEqual([
      '2 v~2 chargeback',
      '2 v~3 credit 5',
    ]);
  });

  it('may have another milestone alone, once: it was corrected, or is named only now', async () => {
    const list = await StateList.create();
    const [unnamed, first] = [row(), row({ event_id: 'install' })];
    const corrected = row({ event_id: 'level', payout: '4' });
    await list.run([[unnamed]]);
    expect((await list.run([[first]])).counts).toEqual({ emitted: 0, unchanged: 1, conflicts: 0 });
    expect((await list.run([[{ ...first, payout: '2' }]])).events.map(short)).toEqual([
      '2 v chargeback',
      '2 v~2 credit 2',
    ]);
    expect((await list.run([[corrected]])).events.map(short)).toEqual(['2 v~2 chargeback', '2 v~3 credit 4']);
    const before = await list.run([[first], [unnamed], [corrected]]);
    expect([before.events, before.counts.conflicts]).toEqual([[], 2]);
    expect((await list.run([[{ ...corrected, status: 'reject' }]])).events.map(short)).toEqual(['2 v~3 reject']);
  });

  it('that cannot be read are rejected in their place, by the rules of events', async () => {
    const list = await StateList.create();
    const { events } = await list.run([
      [
        row({ status: 'paid' }),
        row({ conversion_id: 'é' }),
        row({ occurred_at: 'yesterday' }),
        row({ payout: '1,5' }),
        row({ '~reject': 'no_rate' }),
        '{"~raw":"odd","status":"credit"}',
        row(),
        row({ status: 'pending', occurred_at: null }),
        row({ status: 'pending', event_id: '' }),
        row({ status: 'pending', conversion_id: 'v'.repeat(121) }),
        row({ status: 'reject', changed_at: '02.12.2026' }),
        row({ status: 'reject', changed_at: { unread: '2026-11-19' } }),
        row({ status: 'reject', changed_at: '2026-11-19 10:00:00' }),
        row({ status: 'reject', changed_at: '2026-11-21T00:00:01Z' }),
        row({ status: 'reject', changed_at: '0000-00-00 00:00:01' }),
        row({ conversion_id: 'never', status: 'reject', changed_at: '0000-00-00 00:00:00' }),
        row({ conversion_id: 'never-either', status: 'reject', changed_at: '0000-00-00' }),
      ],
    ]);
    expect(events.map(({ line, event }) => [line, event['kind'], event['~reject'] ?? event['~raw']])).toEqual([
      [2, 'paid', undefined],
      [3, 'credit', undefined],
      [4, 'credit', 'bad_occurred_at'],
      [5, 'credit', 'bad_payout'],
      [6, 'credit', 'no_rate'],
      [7, 'credit', 'odd'],
      [8, 'credit', undefined],
      [9, 'pending', 'missing_occurred_at'],
      [10, 'pending', 'bad_event_id'],
      [11, 'pending', 'bad_conversion_id'],
      [12, 'reject', 'bad_changed_at'],
      [13, 'reject', 'bad_changed_at'],
      [14, 'reject', 'timestamp_without_offset'],
      [15, 'reject', 'future_timestamp'],
      [16, 'reject', 'bad_changed_at'],
      [17, 'reject', undefined],
      [18, 'reject', undefined],
    ]);
  });

  const said = fc.record({
    conversion_id: fc.constantFrom('v', 'w', 'x'),
    status: fc.constantFrom('credit', 'credit', 'pending', 'reject', 'chargeback'),
    payout: fc.constantFrom('1', '2.5'),
    version: fc.option(fc.integer({ min: 0, max: 12 }).map(String), { nil: undefined }),
  });

  const ofMilestones = fc
    .tuple(said, fc.constantFrom(undefined, 'install', 'level'), fc.constantFrom('10', '11'))
    .map(([fields, event_id, hour]) => ({ ...fields, event_id, occurred_at: `2026-11-18T${hour}:00:00Z` }));

  it('tell the same however their files are cut into runs', slow, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(ofMilestones, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
        async (files, cuts) => {
          const rows = files.map((file) => file.map((fields) => row(fields)));
          const atOnce = await (await StateList.create()).run(rows);
          const list = await StateList.create();
          const found: string[] = [];
          let open: object[][] = [];
          for (const [index, file] of rows.entries()) {
            open.push(file);
            if (index < rows.length - 1 && cuts[index] !== true) continue;
            found.push(...(await list.run(open)).events.map(({ event }) => JSON.stringify(event)));
            open = [];
          }
          expect(found.toSorted()).toEqual(atOnce.events.map(({ event }) => JSON.stringify(event)).toSorted());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('bring nothing when any of their files is read again as it was', slow, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(said, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
        async (files, again) => {
          const rows = files.map((file) => file.map((fields) => row(fields)));
          const list = await StateList.create();
          for (const file of rows) await list.run([file]);
          for (const index of again.map((any) => any % rows.length))
            expect((await list.again(index + 1, rows[index] ?? [])).events).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('bring nothing when a list comes again and again, where it has each milestone once', slow, async () => {
    const keyOf = ({ conversion_id, event_id }: { conversion_id: string; event_id?: string | undefined }) =>
      `${conversion_id} ${event_id}`;
    const lists = fc.uniqueArray(ofMilestones, { selector: keyOf, minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(lists, { minLength: 1, maxLength: 3 }), async (found) => {
        const list = await StateList.create();
        const rows = found.map((each) => each.map((fields) => row({ ...fields, version: undefined })));
        for (const each of rows) await list.run([each]);
        const last = rows.at(-1) ?? [];
        await list.run([last]);
        expect((await list.run([last])).events).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('come to what the newest version says, in whatever order they arrive', slow, async () => {
    const versions = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(versions, fc.array(said, { minLength: 5, maxLength: 5 }), async (order, states) => {
        const stated = order.map((version) => ({
          ...row(states[version - 1]),
          conversion_id: 'v',
          version: String(version),
        }));
        const list = await StateList.create();
        const credits = new Map<unknown, unknown>();
        for (const each of stated) {
          const { events } = await list.run([[each]]);
          for (const { event } of events)
            if (event['kind'] === 'credit') credits.set(event['conversion_id'], event['payout']);
            else if (event['kind'] !== 'pending') credits.delete(event['conversion_id']);
        }
        const newest = stated
          .filter(({ status }) => status !== 'pending')
          .toSorted((one, other) => Number(other.version) - Number(one.version))[0];
        expect([...credits.values()]).toEqual(newest?.status === 'credit' ? [newest.payout] : []);
      }),
      { numRuns: 100 },
    );
  });
});
