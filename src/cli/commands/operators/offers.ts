import type { Command } from 'commander';
import { acceptHeldExport, heldExports } from '../../../ingest/catalog/catalog-holds.ts';
import { withWarehouse } from '../../../../pipelines/run-pipeline.ts';
import { visibleText } from '../../../text/visible-text.ts';
import { addCommand, answer, existingData, table, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

export function addOffersCommands(program: Command, context: CommandContext): void {
  const offers = program.command('offers').description('catalog exports that wait for an operator');
  addCommand(offers, 'held', 'exports held because they would remove more than half of their source').action(
    async (options: { json?: boolean }) => {
      const held = await withWarehouse('offers held', existingData(), context.console, ({ connection }) =>
        heldExports(connection),
      );
      answer(
        context,
        options,
        { held },
        table(held.map(({ fileId, source, path, reason }) => ({ file_id: fileId, source, path, reason }))),
      );
    },
  );
  addCommand(offers, 'accept', 'let a held export take effect with the next run')
    .argument('<file_id>', 'as `offers held` shows it', wholeNumber(1))
    .action(async (fileId: number, options: { json?: boolean }) => {
      const accepted = await withWarehouse('offers accept', existingData(), context.console, (state) =>
        state.transaction(() => acceptHeldExport(state.connection, fileId)),
      );
      const path = visibleText(accepted.path);
      answer(context, options, { accepted }, `${path} is ingested by the next \`offerline run refresh\``);
    });
}
