import type { Command } from 'commander';
import { acceptHeldExport, heldExports } from '../../../pipeline/ingest/catalog/catalog-holds.ts';
import { planAccept, type AcceptPlan } from '../../../../pipelines/plans/plan-accept.ts';
import { withWarehouse } from '../../../../pipelines/with-warehouse.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { addCommand, printAnswer, existingData, textTable, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

export function addOffersCommands(program: Command, context: CommandContext): void {
  const offers = program.command('offers').description('Catalog exports that wait for an operator.');
  addCommand(
    offers,
    'held',
    'Lists exports that are held, since they would remove more than half of their source',
  ).action(async (options: { json?: boolean }) => {
    const held = await withWarehouse(
      { command: 'offers held', data: existingData(), terminal: context.terminal },
      ({ connection }) => heldExports(connection),
    );
    printAnswer(
      context,
      options,
      { held },
      textTable(held.map(({ fileId, source, path, reason }) => ({ file_id: fileId, source, path, reason }))),
    );
  });
  addCommand(offers, 'accept', 'Lets a held export take effect with the next run')
    .argument('<file_id>', 'number of the export, as `offers held` shows it', wholeNumber(1))
    .option('--dry-run', 'show which offers would be removed and what they earned in the window; change nothing')
    .action(async (fileId: number, options: { dryRun?: boolean; json?: boolean }) => {
      if (options.dryRun) {
        const plan = await planAccept({ data: existingData(), terminal: context.terminal }, fileId);
        return printAnswer(context, options, { dry_run: true, ...plan }, describePlan(plan));
      }
      const accepted = await withWarehouse(
        { command: 'offers accept', data: existingData(), terminal: context.terminal },
        (state) => state.transaction(() => acceptHeldExport(state.connection, fileId)),
      );
      const path = visibleText(accepted.path);
      printAnswer(context, options, { accepted }, `${path} is ingested by the next \`offerline run refresh\``);
    });
}

/** Removed offers that are shown: as many as people read. */
const shownOffers = 20;

function describePlan({ held, removes, active, as_of, earnings, offers }: AcceptPlan): string {
  const rest = offers.length > shownOffers ? [`${offers.length - shownOffers} more; --json has them all`] : [];
  return [
    `${visibleText(held.path)} would remove ${removes} of ${active} active offers of ${visibleText(held.source)}`,
    as_of === null ? 'nothing was published yet' : `they earned ${earnings} USD in the window as of ${as_of}`,
    '',
    textTable(offers.slice(0, shownOffers).map((offer) => ({ ...offer }))),
    ...rest,
  ].join('\n');
}
