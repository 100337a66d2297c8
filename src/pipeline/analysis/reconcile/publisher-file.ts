import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../kit/errors/errors.ts';
import { looseMoment, type Moment } from '../../../kit/time/moment.ts';
import { parseAmount, type Amount } from '../../../kit/text/decimal-text.ts';
import { csvRecords, type CsvRecord } from '../../../kit/text/csv.ts';

export type ClaimedState = 'credited' | 'pending' | 'rejected' | 'charged_back';

/** A reward: a row of a publisher's list. */
export interface PublisherReward {
  line: number;
  clickId: string;
  /** Absent without such a column, or where the cell is empty. */
  conversionId?: string;
  /** Never negative. */
  amount?: Amount;
  state: ClaimedState;
  time?: Moment;
}

interface PublisherList {
  /** The file's name of each known column. */
  columns: Partial<Record<Field, string>>;
  ignored: string[];
  rewards: PublisherReward[];
}

/** Names of columns, the likeliest first. Compared without case, blanks and punctuation. */
const columnNames = {
  click_id: ['clickid', 'click', 'clickuuid', 'trackingid'],
  conversion_id: ['conversionid', 'conversion', 'transactionid', 'txnid', 'txid'],
  reward: ['reward', 'rewardamount', 'amount', 'points', 'payout', 'value', 'revenue'],
  state: ['state', 'status', 'conversionstatus', 'event', 'type'],
  time: ['creditedat', 'occurredat', 'time', 'timestamp', 'datetime', 'date', 'createdat', 'receivedat', 'when'],
} as const;
type Field = keyof typeof columnNames;
const fields = Object.keys(columnNames) as Field[];

const stateWords: Record<ClaimedState, string[]> = {
  credited: [
    '',
    'credited',
    'credit',
    'approved',
    'confirmed',
    'paid',
    'complete',
    'completed',
    'success',
    'ok',
    'valid',
    'accepted',
  ],
  pending: ['pending', 'open', 'hold', 'onhold', 'waiting', 'review'],
  rejected: ['rejected', 'reject', 'declined', 'denied', 'cancelled', 'canceled', 'invalid', 'failed'],
  charged_back: ['chargedback', 'chargeback', 'reversed', 'reversal', 'refund', 'refunded'],
};
const stateOfWord = new Map(
  Object.entries(stateWords).flatMap(([state, words]) => words.map((word) => [word, state as ClaimedState] as const)),
);

/** Size of a list: more does not fit into one text. */
const maxBytes = 256 * 2 ** 20;
/** Length of a cell of a known column. */
const maxCharacters = 1000;

/** Mistakes that an error lists: more are mostly the same one in every row. */
const maxMistakes = 5;

/**
 * Reads a publisher's list of rewards. Throws `UsageError` with file, line and column of what cannot be read.
 */
export async function readPublisherFile(file: string): Promise<PublisherList> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  if (bytes.length > maxBytes)
    throw new UsageError(`${file} has ${bytes.length} bytes; at most ${maxBytes} are read: compare it in parts`);
  if (!isUtf8(bytes)) throw new UsageError(`${file} is not UTF-8 text; save it as CSV in UTF-8`);
  return parsePublisherList(bytes.toString('utf8').replace(/^\uFEFF/, ''), file);
}

export function parsePublisherList(text: string, file: string): PublisherList {
  const records = csvRecords(text, file);
  const { value: header } = records.next() as { value: CsvRecord | undefined };
  const names = header?.cells ?? [];
  const at = columnsOf(names);
  if (at.click_id === undefined)
    throw new UsageError(
      `${file} line ${header?.line ?? 1}: no column is named click_id; the header row says ${names.join(', ') || 'nothing'}`,
    );
  const rewards: PublisherReward[] = [];
  const mistakes: string[] = [];
  for (const record of records) {
    const read = readReward(record, at, names);
    if (typeof read === 'object') rewards.push(read);
    else if (mistakes.push(`${file} line ${record.line}: ${read}`) === maxMistakes) break;
  }
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'));
  const columns = Object.fromEntries(Object.entries(at).map(([field, index]) => [field, names[index] as string]));
  return { columns, ignored: names.filter((_, index) => !Object.values(at).includes(index)), rewards };
}

function columnsOf(names: string[]): Partial<Record<Field, number>> {
  const plain = names.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
  const found = fields.flatMap((field) => {
    const name = columnNames[field].find((candidate) => plain.includes(candidate));
    return name === undefined ? [] : [[field, plain.indexOf(name)] as const];
  });
  return Object.fromEntries(found);
}

/** Returns the reward, or the mistake in the row. */
function readReward(
  { line, cells }: CsvRecord,
  at: Partial<Record<Field, number>>,
  names: readonly string[],
): PublisherReward | string {
  if (cells.length > names.length) return `it has ${cells.length} cells, the header has ${names.length}`;
  const giant = Object.values(at).find((index) => (cells[index] ?? '').length > maxCharacters);
  if (giant !== undefined)
    return `the cell of "${names[giant]}" has ${cells[giant]?.length} characters; at most ${maxCharacters} are read`;
  const cell = (field: Field) => (at[field] === undefined ? '' : (cells[at[field]] ?? ''));
  const clickId = cell('click_id');
  if (clickId === '') return 'the click id is empty';
  const amount = cell('reward') === '' ? undefined : parseAmount(cell('reward'));
  if (amount === undefined && cell('reward') !== '')
    return `"${cell('reward')}" is no amount; write it like 1250 or 12.50`;
  const state = stateOfWord.get(
    cell('state')
      .toLowerCase()
      .replaceAll(/[^a-z]/g, ''),
  );
  if (state === undefined)
    return `the state "${cell('state')}" is none of ${[...stateOfWord.keys()].filter((word) => word !== '').join(', ')}`;
  const time = cell('time') === '' ? undefined : looseMoment(cell('time'));
  if (time === undefined && cell('time') !== '')
    return `"${cell('time')}" is no time; write it like 2026-11-18T10:00:00Z or 2026-11-18`;
  return {
    line,
    clickId,
    ...(cell('conversion_id') === '' ? {} : { conversionId: cell('conversion_id') }),
    ...(amount === undefined ? {} : { amount: amount < 0n ? -amount : amount }),
    // Some lists write a reversal as a negative amount.
    state: amount !== undefined && amount < 0n && state === 'credited' ? 'charged_back' : state,
    ...(time === undefined ? {} : { time }),
  };
}
