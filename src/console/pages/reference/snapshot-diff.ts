import { diffSnapshots, type Pair, type SnapshotDiff } from '../../../pipeline/analysis/diff.ts';
import { findSnapshot, type KeptSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { OneAtATime } from '../../data/one-at-a-time.ts';
import { ConsoleError } from '../../page/console-error.ts';
import { moment } from '../../html/figures.ts';
import { html } from '../../html/html.ts';
import { rowsPerPage, table } from '../../html/table.ts';
import type { Page, Visit } from '../../page/page.ts';
import { diffColumns, type DiffRows } from './diff-columns.ts';

/** Each comparison opens a DuckDB of its own: one at a time, and who would wait behind so many is told to come back. */
const turns = new OneAtATime(4);

/** Where the form of `/snapshots` leads. */
export const compareSnapshotsPage: Page = {
  path: '/snapshots/diff',
  show({ address }) {
    const [before = '', after = ''] = [address.get('before'), address.get('after')];
    if (before === '' || after === '')
      throw new ConsoleError(400, 'before and after name the two snapshots; /snapshots has those that are kept.');
    return Promise.resolve({ elsewhere: `/snapshots/${encodeURIComponent(before)}/diff/${encodeURIComponent(after)}` });
  },
};

/** What differs between two snapshots: offers, prices, figures? */
export const snapshotDiffPage: Page = {
  path: '/snapshots/:before/diff/:after',
  live: true,
  async show({ path, data, part }) {
    const before = await kept(data, path['before'] ?? '');
    const after = await kept(data, path['after'] ?? '');
    if (before.folder === after.folder) throw new ConsoleError(400, 'Both are the same snapshot: name two.');
    const rows = rowsOf(await turns.run(() => diffSnapshots(before, after, { threads: '1', memory_limit: '128MiB' })));
    const command = `offerline diff ${before.manifest.snapshot_id} ${after.manifest.snapshot_id}`;
    const told = { command, empty: 'None.' };
    return {
      title: `From ${before.manifest.snapshot_id} to ${after.manifest.snapshot_id}`,
      question: 'What differs between these two snapshots: offers, prices, figures?',
      parts: [
        html`<dl class="facts">
          <dt>Before</dt>
          <dd>as of ${moment(before.manifest.as_of)}</dd>
          <dt>After</dt>
          <dd>as of ${moment(after.manifest.as_of)}</dd>
        </dl>`,
        table({
          name: 'added',
          caption: 'Offers added',
          columns: diffColumns.added,
          ...partOf(rows.added, part),
          ...told,
        }),
        table({
          name: 'removed',
          caption: 'Offers removed',
          columns: diffColumns.removed,
          ...partOf(rows.removed, part),
          ...told,
        }),
        table({
          name: 'repriced',
          caption: 'Offers re-priced',
          columns: diffColumns.repriced,
          ...partOf(rows.repriced, part),
          ...told,
        }),
        table({
          name: 'changed',
          caption: 'Offers changed otherwise',
          columns: diffColumns.changed,
          ...partOf(rows.changed, part),
          ...told,
        }),
        table({
          name: 'commissions',
          caption: 'Sites with another commission',
          columns: diffColumns.commissions,
          ...partOf(rows.commissions, part),
          ...told,
        }),
        table({
          name: 'figures',
          caption: 'Figures that moved, the largest change of earnings first',
          columns: diffColumns.figures,
          ...partOf(rows.figures, part),
          ...told,
        }),
      ],
    };
  },
};

/** Throws where it is not kept, or cannot be read. */
async function kept(data: DataDirectory, id: string): Promise<KeptSnapshot> {
  try {
    return await findSnapshot(data, id);
  } catch (error) {
    if (error instanceof UsageError) throw new ConsoleError(404, error.message.replaceAll(`${data.published}/`, ''));
    throw error;
  }
}

/** Tables that fit on a page are shown whole, whatever part of a longer one is asked for. */
function partOf<R>(rows: readonly R[], { first: wanted, rows: most }: Visit['part']) {
  if (rows.length <= rowsPerPage) return { rows };
  const first = Math.min(wanted, Math.floor((rows.length - 1) / rowsPerPage) * rowsPerPage);
  return { rows: rows.slice(first, first + most), first, total: rows.length };
}

function rowsOf(diff: SnapshotDiff): DiffRows {
  const change = ({ moved: { earnings } }: SnapshotDiff['figures'][number]) =>
    Math.abs(Number(earnings?.after ?? 0) - Number(earnings?.before ?? 0));
  return {
    added: diff.added,
    removed: diff.removed,
    repriced: diff.repriced.flatMap(({ payout, milestones, ...offer }) => [
      ...(payout.before === payout.after ? [] : [{ ...offer, price: 'offer', ...flat(payout) }]),
      ...milestones.map(({ event_id, ...pair }) => ({ ...offer, price: `milestone ${event_id}`, ...flat(pair) })),
    ]),
    changed: diff.changed.map(({ version, ...offer }) => ({ ...offer, ...flat(version) })),
    commissions: diff.commissions.map(({ site_key, ...pair }) => ({ site_key, ...flat(pair) })),
    figures: diff.figures
      .toSorted((one, other) => change(other) - change(one))
      .flatMap(({ moved, ...offer }) =>
        Object.entries(moved).map(([figure, pair]) => ({ ...offer, figure, ...flat(pair) })),
      ),
  };
}

function flat<Value>({ before, after }: Pair<Value>): Pair<Value> {
  return { before, after };
}
