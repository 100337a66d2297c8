import type { Command } from 'commander';
import { byChangeOfEarnings, diffSnapshots, type SnapshotDiff } from '../../../pipeline/analysis/diff.ts';
import type { Pair } from '../../../pipeline/analysis/differing-pairs.ts';
import { findSnapshot, type KeptSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { figureNames } from '../../../pipeline/sql/figures.ts';
import { addCommand, printAnswer, existingData, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

/** Rows of a section: as many as fit on a screen with the others; `--json` has all. */
const maxRows = 20;

/** Figures with a column of their own; the others are named. */
const figuresInFull = ['clicks', 'conversions', 'earnings', 'epc', 'rank'];

export function addDiffCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'diff',
    'Shows what changed between two snapshots: offers added, removed and re-priced, commissions and rules of sites, figures that moved',
  )
    .argument('<before>', 'kept snapshot, as `snapshots` lists them, the beginning of its id, or a moment')
    .argument('<after>', 'another one; `current` is the current one')
    .action(async (first: string, second: string, options: { json?: boolean }) => {
      const data = existingData();
      const [before, after] = [await findSnapshot(data, first), await findSnapshot(data, second)];
      const diff = await diffSnapshots(before, after);
      printAnswer(
        context,
        options,
        { before: nameOf(before), after: nameOf(after), ...diff },
        describe(before, after, diff),
      );
    });
}

function nameOf({ manifest: { snapshot_id, as_of } }: KeptSnapshot) {
  return { snapshot_id, as_of };
}

function describe(before: KeptSnapshot, after: KeptSnapshot, diff: SnapshotDiff): string {
  const [old, current] = [nameOf(before), nameOf(after)];
  const moved = figureNames()
    .map((figure) => ({ figure, offers: diff.figures.filter((offer) => figure in offer.moved).length }))
    .filter(({ offers }) => offers > 0);
  return [
    `before  ${old.snapshot_id}, as of ${old.as_of}`,
    `after   ${current.snapshot_id}, as of ${current.as_of}`,
    ...section(
      'offers added',
      diff.added.map(({ before: was, ...offer }) => ({ ...offer, was: was ?? 'unknown' })),
    ),
    ...section(
      'offers removed',
      diff.removed.map(({ after: is, ...offer }) => ({ ...offer, is: is ?? 'unknown' })),
    ),
    ...section(
      'offers re-priced',
      diff.repriced.map(({ payout, milestones, ...offer }) => ({
        ...offer,
        payout: shown(payout),
        milestones: milestones.map((milestone) => `${milestone.event_id} ${shown(milestone)}`).join(', '),
      })),
    ),
    ...section(
      'offers changed otherwise',
      diff.changed.map(({ version, ...offer }) => ({ ...offer, version: shown(version) })),
    ),
    ...section(
      'commissions of sites',
      diff.commissions.map(({ site_key, of, ...pair }) => ({
        site_key,
        of: of ?? 'all others',
        commission: shown(pair),
      })),
    ),
    ...section(
      'sites whose allowed offers changed',
      diff.rules.map(({ site_key, ...pair }) => ({ site_key, offers: shown(pair) })),
    ),
    ...section('figures that moved', moved),
    ...section(
      'offers with figures that moved, largest change of earnings first',
      byChangeOfEarnings(diff.figures).map(({ offer_id, title, moved: figures }) => ({
        offer_id,
        title,
        ...Object.fromEntries(
          figuresInFull.map((figure) => [figure, figures[figure] === undefined ? '' : shown(figures[figure])]),
        ),
        others: Object.keys(figures)
          .filter((figure) => !figuresInFull.includes(figure))
          .join(', '),
      })),
    ),
  ].join('\n');
}

function section(title: string, rows: Record<string, string | number>[]): string[] {
  if (rows.length === 0) return ['', `${title}: none`];
  const left = rows.length - maxRows;
  return [
    '',
    `${title}: ${rows.length}`,
    textTable(rows.slice(0, maxRows)),
    ...(left > 0 ? [`… and ${left} more; --json gives all`] : []),
  ];
}

function shown({ before, after }: Pair): string {
  return `${String(before ?? '-')} → ${String(after ?? '-')}`;
}
