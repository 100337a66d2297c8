import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { diffSnapshots, type SnapshotDiff } from '../../../pipeline/analysis/diff.ts';
import type { Pair } from '../../../pipeline/analysis/differing-pairs.ts';
import { findSnapshot, type KeptSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { SerialQueue } from '../../data/serial-queue.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, rowsPerPage, type Column, type TablePart } from '../../html/table.ts';
import { facts, missing, moment, numberValue } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';

interface Change {
  change: string | null;
}

interface OfferName {
  offer_id: number;
  title: string;
}

/** Each comparison opens a DuckDB of its own, so they run one at a time; a fifth that waits is refused with 503. */
const comparisons = new SerialQueue(4);

const offerColumns: readonly Column<OfferName>[] = [
  { name: 'offer_id', title: 'Offer', kind: 'number', link: 'offers' },
  { name: 'title', title: 'Title' },
];
const changeColumn: Column<Change> = { name: 'change', title: 'Change', kind: 'number', show: signed };
const moneyColumns: readonly Column<Pair<string> & Change>[] = [
  { name: 'before', title: 'Before, USD', kind: 'money' },
  { name: 'after', title: 'After, USD', kind: 'money' },
  changeColumn,
];
const sideColumns: readonly Column<Pair>[] = [
  { name: 'before', title: 'Before', show: ({ before }) => side(before, 'del') },
  { name: 'after', title: 'After', show: ({ after }) => side(after, 'ins') },
];
const valueColumns: readonly Column<Pair & Change>[] = [...sideColumns, changeColumn];

/** The target of the form of `/snapshots`. */
export const compareSnapshotsPage: Page = {
  path: '/snapshots/diff',
  show({ address }) {
    const [before = '', after = ''] = [address.get('before'), address.get('after')];
    if (before === '' || after === '')
      throw new ConsoleError(400, 'before and after have to name two snapshots; /snapshots lists those that are kept.');
    return { redirect: `/snapshots/${encodeURIComponent(before)}/diff/${encodeURIComponent(after)}` };
  },
};

export const snapshotDiffPage: Page = {
  path: '/snapshots/:before/diff/:after',
  live: true,
  async show({ path, data, part }) {
    const before = await kept(data, path['before'] ?? '');
    const after = await kept(data, path['after'] ?? '');
    if (before.folder === after.folder) throw new ConsoleError(400, 'Both are the same snapshot: name two.');
    const diff = await comparisons.run(() => diffSnapshots(before, after, { threads: '1', memory_limit: '128MiB' }));
    const names = [before, after].map(({ manifest }) => manifest.snapshot_id);
    const command = `offerline diff ${names.join(' ')}`;
    // A table that fits on one page is shown whole, whatever part of a longer table the address asks for.
    const diffTable = <R extends object>(
      name: string,
      caption: string,
      rows: readonly R[],
      columns: readonly Column<R>[],
    ): TablePart => {
      const lastPage = Math.floor((rows.length - 1) / rowsPerPage) * rowsPerPage;
      const first = rows.length <= rowsPerPage ? 0 : Math.min(part.first, lastPage);
      const shown = rows.length <= rowsPerPage ? rows : rows.slice(first, first + part.rows);
      return dataTable<R>({ name, caption, columns, rows: shown, first, total: rows.length, command, empty: 'None.' });
    };
    return {
      title: `From ${names[0]} to ${names[1]}`,
      question: 'How do these two snapshots differ: in offers, prices, figures?',
      parts: [
        facts([
          ['Before', html`as of ${moment(before.manifest.as_of)}`],
          ['After', html`as of ${moment(after.manifest.as_of)}`],
        ]),
        diffTable('added', 'Offers added', diff.added, [
          ...offerColumns,
          { name: 'payout', title: 'Payout, USD', kind: 'money' },
          { name: 'before', title: 'Status before' },
        ]),
        diffTable('removed', 'Offers removed', diff.removed, [
          ...offerColumns,
          { name: 'payout', title: 'Payout, USD', kind: 'money' },
          { name: 'after', title: 'Status now' },
        ]),
        diffTable('repriced', 'Offers with another price', priceRows(diff).map(withChange), [
          ...offerColumns,
          { name: 'price', title: 'Price of' },
          ...moneyColumns,
        ]),
        diffTable(
          'changed',
          'Offers with other changes',
          diff.changed.map(({ version, ...offer }) => ({ ...offer, ...version })),
          [
            ...offerColumns,
            { name: 'before', title: 'Version before', kind: 'number' },
            { name: 'after', title: 'Version after', kind: 'number' },
          ],
        ),
        diffTable(
          'commissions',
          'Commissions of sites',
          diff.commissions.map(({ of, ...row }) => withChange({ ...row, of: of ?? 'all others' })),
          [{ name: 'site_key', title: 'Site' }, { name: 'of', title: 'Offers' }, ...valueColumns],
        ),
        diffTable('rules', 'Sites whose allowed offers changed', diff.rules, [
          { name: 'site_key', title: 'Site' },
          ...sideColumns,
        ]),
        diffTable(
          'figures',
          'Figures that changed, the largest change of earnings first',
          figureRows(diff).map(withChange),
          [...offerColumns, { name: 'figure', title: 'Figure', link: 'figures' }, ...valueColumns],
        ),
      ],
    };
  },
};

/** Throws where the snapshot is not kept, or cannot be read. */
async function kept(data: DataDirectory, id: string): Promise<KeptSnapshot> {
  try {
    return await findSnapshot(data, id);
  } catch (error) {
    if (error instanceof UsageError) throw new ConsoleError(404, error.message.replaceAll(`${data.published}/`, ''));
    throw error;
  }
}

/** A row for each price that differs, of an offer or of one of its milestones. */
function priceRows({ repriced }: SnapshotDiff): (OfferName & { price: string } & Pair<string>)[] {
  return repriced.flatMap(({ payout, milestones, ...offer }) => [
    ...(payout.before === payout.after ? [] : [{ ...offer, price: 'offer', ...payout }]),
    ...milestones.map(({ event_id, ...pair }) => ({ ...offer, price: `milestone ${event_id}`, ...pair })),
  ]);
}

function figureRows({ figures }: SnapshotDiff): (OfferName & { figure: string } & Pair)[] {
  const change = ({ moved: { earnings } }: SnapshotDiff['figures'][number]) =>
    Math.abs(Number(earnings?.after ?? 0) - Number(earnings?.before ?? 0));
  return figures
    .toSorted((one, other) => change(other) - change(one))
    .flatMap(({ moved, ...offer }) => Object.entries(moved).map(([figure, pair]) => ({ ...offer, figure, ...pair })));
}

/** A pair with the difference of its numbers, to six places, which figures and prices have at most; else null. */
function withChange<Row extends Pair>(row: Row): Row & Change {
  const { before, after } = row;
  const difference = before === null || after === null || after === '' ? Number.NaN : Number(after) - Number(before);
  return { ...row, change: Number.isNaN(difference) ? null : String(Number(difference.toFixed(6))) };
}

function signed({ change }: Change): Html {
  if (change === null) return missing('not in both snapshots, or no number');
  return html`<span>${Number(change) > 0 ? '+' : ''}${numberValue(change)}</span>`;
}

function side(value: string | number | null, tag: 'del' | 'ins'): Html {
  if (value === null) return missing('not in this snapshot');
  return tag === 'del' ? html`<del>${value}</del>` : html`<ins>${value}</ins>`;
}
