import { basename } from 'node:path';
import { keptSnapshots, type KeptSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { snapshotsWithReaders } from '../../../pipeline/snapshot/open-readers.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';

interface SnapshotRow {
  snapshot_id: string;
  as_of: string;
  created_at: string;
  run_id: number;
  offers: number | null;
  clicks: number | null;
  conversions: number | null;
  bytes: number;
  current: boolean;
  /** A reader has it open: it stays. On Linux. */
  in_use: boolean;
  /** The snapshot that was published before this one; null for the oldest. */
  before: string | null;
}

interface UnreadableRow {
  snapshot_id: string;
  reason: string;
}

const columns: readonly Column<SnapshotRow>[] = [
  {
    name: 'snapshot_id',
    title: 'Snapshot',
    show: ({ snapshot_id, current }) =>
      html`<a href="/offers?snapshot=${encodeURIComponent(snapshot_id)}">${snapshot_id}</a>${current && html` <strong>current</strong>`}`,
  },
  { name: 'as_of', title: 'As of', kind: 'moment' },
  { name: 'created_at', title: 'Published', kind: 'moment' },
  { name: 'run_id', title: 'Run', kind: 'number', link: 'runs' },
  { name: 'offers', title: 'Offers', kind: 'number' },
  { name: 'clicks', title: 'Clicks', kind: 'number' },
  { name: 'conversions', title: 'Conversions', kind: 'number' },
  { name: 'bytes', title: 'Bytes', kind: 'number' },
  { name: 'in_use', title: 'In use', show: ({ in_use }) => (in_use ? html`by a reader: it stays` : html`no`) },
  {
    name: 'before',
    title: 'Differences',
    show: ({ before, snapshot_id }) =>
      before === null
        ? html`<span class="quiet">it is the oldest that is kept</span>`
        : html`<a href="/snapshots/${encodeURIComponent(before)}/diff/${encodeURIComponent(snapshot_id)}">to the one before</a>`,
  },
];

const unreadableColumns: readonly Column<UnreadableRow>[] = [
  { name: 'snapshot_id', title: 'Snapshot' },
  { name: 'reason', title: 'Reason' },
];

export const snapshotsPage: Page = {
  path: '/snapshots',
  navigation: 'Snapshots',
  live: true,
  async show({ data, settings }) {
    const read = await snapshotsWithReaders(data);
    const { snapshots_kept: count, snapshots_kept_hours: hours } = settings;
    const { kept, unreadable } = await keptSnapshots(data);
    const names = kept.map(({ manifest }) => manifest.snapshot_id);
    return {
      title: 'Snapshots',
      question: `Which snapshots are kept, and how do they differ? The newest ${count}, the newest of each of the last ${hours} hours, and those that a reader has open. Live.`,
      parts: [
        dataTable<SnapshotRow>({
          name: 'snapshots',
          caption: 'Kept snapshots, newest first',
          columns,
          rows: kept.map((snapshot, position) => rowOf(snapshot, names[position + 1] ?? null, read)),
          command: 'offerline snapshots',
          empty: html`Nothing is published yet. <code>offerline run refresh</code> publishes a first snapshot.`,
        }),
        names.length > 2 && compareForm(names),
        unreadable.length > 0 &&
          dataTable<UnreadableRow>({
            name: 'unreadable',
            caption: 'Unreadable snapshots',
            columns: unreadableColumns,
            rows: unreadable.map(({ folder, reason }) => ({ snapshot_id: basename(folder), reason })),
            command: 'offerline doctor',
            empty: '',
          }),
      ],
    };
  },
};

function rowOf({ manifest, current }: KeptSnapshot, before: string | null, read: ReadonlySet<string>): SnapshotRow {
  const { snapshot_id, as_of, created_at, run_id, row_counts, files } = manifest;
  return {
    snapshot_id,
    as_of,
    created_at,
    run_id,
    offers: row_counts['offers'] ?? null,
    clicks: row_counts['clicks'] ?? null,
    conversions: row_counts['conversions'] ?? null,
    bytes: Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0),
    current,
    in_use: read.has(snapshot_id),
    before,
  };
}

function compareForm(names: readonly string[]): Html {
  const choice = (name: string, title: string, chosen: string | undefined) =>
    html`<label
      >${title}
      <select name="${name}">
        ${names.map((each) => html`<option ${each === chosen && html`selected`}>${each}</option> `)}
      </select></label
    > `;
  return html`<form class="filters" method="get" action="/snapshots/diff">
    ${choice('before', 'Differences between', names.at(-1))}${choice('after', 'and', names[0])}
    <button>Compare</button>
  </form>`;
}
