import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Progress } from '../../kit/logging/progress.ts';
import type { DeliveryContents } from '../../postbacks/postgres-deliveries.ts';
import { columnsOf, contentsOf, changedRows, type StoreAdapter, type TargetAdapter } from './store-adapter.ts';

/**
 * Makes the target equal to the source, and proves it. Goes on from an earlier copy: a row that has changed since has a
 * greater number.
 */
export async function copyDeliveries(
  source: StoreAdapter,
  target: TargetAdapter,
  progress: Progress,
  effects: Effects,
): Promise<DeliveryContents> {
  const contents = await contentsOf(source);
  progress.start('moving deliveries', contents.postbacks + contents.attempts);
  try {
    let oldestAttempt: number | null = null;
    const startedAt = columnsOf('attempts').indexOf('started_at');
    for await (const rows of changedRows(source, 'attempts', 0))
      for (const row of rows) oldestAttempt = Math.min(oldestAttempt ?? Infinity, row[startedAt] as number);
    let copied = 0;
    for (const table of ['postbacks', 'attempts'] as const) {
      for await (const rows of changedRows(source, table, await target.copiedUpTo(table))) {
        await effects.perform(`moved deliveries: ${table} written`, () => target.write(table, rows));
        progress.advance((copied += rows.length));
      }
    }
    const offsets = await source.rows('outbox_offsets');
    const circuits = await source.rows('circuit_breakers');
    const changes = await source.lastChange();
    await effects.perform('moved deliveries: completed', () =>
      target.complete({ changes, offsets, circuits, oldestAttempt }),
    );
  } finally {
    progress.finish();
  }
  const arrived = await contentsOf(target);
  if (arrived.digest !== contents.digest)
    throw new OfferlineError(
      `${target.where} holds ${described(arrived)} after the move, ${source.where} holds ${described(contents)}. The old store stays in use`,
    );
  return contents;
}

function described({ postbacks, attempts, digest }: DeliveryContents): string {
  return `${postbacks} postbacks and ${attempts} attempts (${digest.slice(0, 12)})`;
}
