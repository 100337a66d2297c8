import type { Command } from 'commander';
import { keptSnapshots } from '../../../pipeline/analysis/kept-snapshots.ts';
import { snapshotsWithReaders } from '../../../pipeline/snapshot/open-readers.ts';
import { addCommand, printAnswer, existingData, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

export function addSnapshotsCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'snapshots',
    'Lists the kept snapshots, the newest first',
    'Also which of them a reader has open, on Linux: such a one stays, however old it is.',
  ).action(async (options: { json?: boolean }) => {
    const data = existingData();
    const { kept, unreadable } = await keptSnapshots(data);
    const read = await snapshotsWithReaders(data);
    for (const { folder, reason } of unreadable)
      context.terminal.logger.warn({ folder }, `a snapshot cannot be read: ${reason}`);
    const snapshots = kept.map(
      ({ manifest: { snapshot_id, as_of, created_at, run_id, row_counts, files }, current }) => ({
        snapshot_id,
        as_of,
        created_at,
        run_id,
        current,
        in_use: read.has(snapshot_id),
        bytes: Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0),
        row_counts,
      }),
    );
    printAnswer(
      context,
      options,
      { snapshots },
      textTable(
        snapshots.map(({ row_counts, current, in_use, ...about }) => ({
          ...about,
          offers: row_counts['offers'] ?? 0,
          clicks: row_counts['clicks'] ?? 0,
          conversions: row_counts['conversions'] ?? 0,
          current: current ? 'current' : '',
          'in use': in_use ? 'by a reader' : '',
        })),
      ),
    );
  });
}
