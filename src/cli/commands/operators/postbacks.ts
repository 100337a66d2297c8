import { Option, type Command } from 'commander';
import { giveUpPostbacks, movePostbacks, moveTargets } from '../../../../pipelines/move-postbacks.ts';
import { duePostbacks } from '../../../postbacks/due-postbacks.ts';
import { deliverPostbacks, planTestPostback, sendTestPostback } from '../../../../pipelines/postbacks.ts';
import { readSettings } from '../../../kit/config/settings.ts';
import { OfferlineError, UsageError } from '../../../kit/errors/errors.ts';
import { isShared, openStore } from '../../../postbacks/open-store.ts';
import { refusedAddressCure } from '../../../postbacks/rules/outcome.ts';
import type { DeliveryFilter } from '../../../postbacks/store/query-store.ts';
import type { DeliveryState } from '../../../postbacks/store/delivery-rows.ts';
import type { DeliveryStore } from '../../../postbacks/store/delivery-store.ts';
import { deliveryStates, type DeliveryStatus } from '../../../kit/vocabulary/values.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { momentOption } from '../../../kit/time/moment.ts';
import { addCommand, printAnswer, existingData, fieldLines, textTable, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface FilterOptions {
  site?: string;
  state?: DeliveryStatus;
  since?: string;
  until?: string;
}

export function addPostbacksCommands(program: Command, context: CommandContext): void {
  const postbacks = program.command('postbacks').description('Rewards reported to publishers.');
  addDeliver(postbacks, context);
  addList(postbacks, context);
  addShow(postbacks, context);
  addRetry(postbacks, context);
  addTest(postbacks, context);
  addMove(postbacks, context);
}

function addDeliver(postbacks: Command, context: CommandContext): void {
  addCommand(postbacks, 'deliver', 'Makes one pass over the postbacks that are due, as `run refresh` does at its end')
    .option('--dry-run', 'show what is due, by site; send nothing')
    .action(async (options: { dryRun?: boolean; json?: boolean }) => {
      if (options.dryRun) {
        const due = await duePostbacks(existingData());
        return printAnswer(context, options, { due }, textTable(due));
      }
      const summary = await deliverPostbacks({
        data: existingData(),
        terminal: context.terminal,
        command: 'postbacks deliver',
        stop: stopSignal(context.terminal.logger),
      });
      printAnswer(context, options, summary, textTable([{ ...summary }]));
    });
}

function addList(postbacks: Command, context: CommandContext): void {
  withFilter(addCommand(postbacks, 'list', 'Lists postbacks and their states, the newest events first'))
    .addOption(new Option('--state <state>', 'only postbacks in that state').choices(deliveryStates))
    .option('--limit <n>', 'postbacks at most', wholeNumber(1, 100_000), 50)
    .action(async (options: FilterOptions & { limit: number; json?: boolean }) => {
      const { found, count } = await inStore(async (store) => ({
        found: await store.find(filterOf(options), options.limit),
        count: await store.count(filterOf(options)),
      }));
      const rest = count > found.length ? `\n${count - found.length} more; --limit shows them` : '';
      const isRefused = found.some(({ lastError }) => lastError === 'refused_address');
      const cure = isRefused ? `\nrefused_address: ${refusedAddressCure}` : '';
      printAnswer(
        context,
        options,
        { count, postbacks: found.map(documentOf) },
        textTable(found.map(rowOf)) + rest + cure,
      );
    });
}

function addShow(postbacks: Command, context: CommandContext): void {
  addCommand(postbacks, 'show', 'Shows one postback, or all of a conversion, with every attempt')
    .argument('<id>', 'webhook id or conversion id')
    .action(async (id: string, options: { json?: boolean }) => {
      const found = await inStore((store) => store.show(id));
      if (found.length === 0)
        throw new UsageError(
          `there is no postback with the webhook or conversion id "${id}"; \`offerline postbacks list\` shows what there is`,
        );
      const shown = found.map(({ postback, attempts }) => ({
        ...documentOf(postback),
        attempts_made: attempts.map(({ attempt, startedAt, durationMilliseconds, status, error, host }) => ({
          attempt,
          started_at: startedAt,
          duration_ms: durationMilliseconds,
          status,
          error,
          host,
        })),
      }));
      const texts = shown.map(({ attempts_made, ...about }) => `${fieldLines(about)}\n\n${textTable(attempts_made)}`);
      printAnswer(context, options, { postbacks: shown }, texts.join('\n\n'));
    });
}

interface RetryOptions extends FilterOptions {
  all?: boolean;
  pending?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

function addRetry(postbacks: Command, context: CommandContext): void {
  withFilter(addCommand(postbacks, 'retry', 'Gives dead postbacks a new plan of attempts; the next pass sends them'))
    .argument('[ids...]', 'webhook or conversion ids')
    .option('--all', 'all postbacks in that state')
    .option('--pending', 'pending postbacks in place of dead ones: due at once, also to sites that are paused')
    .option('--dry-run', 'show how many there are; change nothing')
    .action(async (ids: string[], options: RetryOptions) => {
      const state = options.pending ? 'pending' : 'dead';
      const filter: DeliveryFilter = { ...filterOf(options), state, ...(ids.length === 0 ? {} : { ids }) };
      const isNarrow =
        ids.length > 0 || [options.site, options.since, options.until].some((value) => value !== undefined);
      if (!isNarrow && !options.all)
        throw new UsageError(`name the ${state} postbacks to revive: ids, --site, --since, --until, or --all`);
      const unknown = await inStore((store) => unknownIds(store, ids));
      if (unknown.length > 0)
        throw new UsageError(
          `there is no postback with the webhook or conversion id ${unknown.join(', ')}; \`offerline postbacks list --state ${state}\` shows what can be revived`,
        );
      if (options.dryRun) {
        const sites = (await inStore((store) => store.countBySite(filter))).map((site) => ({
          site_key: site.siteKey,
          postbacks: site.postbacks,
          ids_sha256: site.idsSha256,
        }));
        const revived = sites.reduce((sum, site) => sum + site.postbacks, 0);
        return printAnswer(context, options, { revived, dry_run: true, sites }, `${revived} would be revived`);
      }
      const revived = await inStore((store) => store.revive(filter, realEffects.now()));
      printAnswer(
        context,
        options,
        { revived, dry_run: false },
        `${revived} revived; the next \`offerline postbacks deliver\` or refresh sends them`,
      );
    });
}

function addTest(postbacks: Command, context: CommandContext): void {
  addCommand(postbacks, 'test', 'Sends a signed postback of reward 0 for a click `test-…` to a site, now')
    .argument('<site_key>', 'public name of the site')
    .option('--dry-run', 'show where it would go; send nothing')
    .action(async (siteKey: string, options: { dryRun?: boolean; json?: boolean }) => {
      if (options.dryRun) {
        const plan = planTestPostback(existingData(), siteKey);
        return printAnswer(context, options, { dry_run: true, ...plan }, fieldLines(plan));
      }
      const { host, status, error, detail, durationMilliseconds, postback } = await sendTestPostback(
        existingData(),
        siteKey,
      );
      const delivered = error === null;
      const shown = {
        site_key: siteKey,
        webhook_id: postback.webhookId,
        click_id: postback.clickId,
        delivered,
        host,
        status,
        error,
        ...(detail !== undefined && { detail }),
        duration_ms: Math.round(durationMilliseconds),
      };
      printAnswer(context, options, shown, fieldLines(shown));
      if (!delivered)
        throw new OfferlineError(
          `the test postback to site ${siteKey} at ${host || 'its address'} failed: ${error}${status === null ? '' : ` (status ${status})`}${detail === undefined ? '' : `: ${detail}`}${error === 'refused_address' ? `; ${refusedAddressCure}` : ''}`,
        );
    });
}

function addMove(postbacks: Command, context: CommandContext): void {
  addCommand(
    postbacks,
    'move',
    'Moves all deliveries to the other store',
    'Compares both stores by a digest before it leaves the old one. After an interruption, call it again: it goes on; after the end it says that nothing is left to move.',
  )
    .addOption(
      new Option('--to <store>', 'PostgreSQL as postbacks.store names it, or the file of this machine')
        .choices(moveTargets)
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'show what would be moved; change nothing')
    .option(
      '--lost',
      'the store that is left is lost for good: the next run fills the other one from the warehouse, and sends what was delivered since the last run once more',
    )
    .action(async (options: { to: (typeof moveTargets)[number]; dryRun?: boolean; lost?: boolean; json?: boolean }) => {
      const dryRun = options.dryRun ?? false;
      const { to } = options;
      if (options.lost) {
        if (dryRun) throw new UsageError('--lost moves nothing that --dry-run could show');
        await giveUpPostbacks(existingData(), context.terminal, to);
        return printAnswer(context, options, { lost: true, to }, `the next run fills ${to} from the warehouse`);
      }
      const moved = await movePostbacks({ data: existingData(), terminal: context.terminal, to, dryRun });
      const what = `${moved.postbacks} postbacks and ${moved.attempts} attempts`;
      const next =
        to === 'sqlite' && isShared(readSettings(existingData()))
          ? '; now take postbacks.store out of offerline.json'
          : '';
      printAnswer(
        context,
        options,
        { ...moved, dry_run: dryRun },
        moved.from === null
          ? `nothing to move: ${what} are in ${moved.to} already${next}`
          : dryRun
            ? `${what} would be moved from ${moved.from} to ${moved.to}`
            : `${what} were moved from ${moved.from} to ${moved.to}${next}`,
      );
    });
}

function withFilter(command: Command): Command {
  return command
    .option('--site <site_key>', 'only of that site')
    .option('--since <time>', 'only of events at that time or later, such as 2026-11-18T10:00:00Z')
    .option('--until <time>', 'only of events before that time');
}

function filterOf({ site, state, since, until }: FilterOptions): DeliveryFilter {
  return {
    site,
    state,
    since: since === undefined ? undefined : momentOption(since, '--since'),
    until: until === undefined ? undefined : momentOption(until, '--until'),
  };
}

async function unknownIds(store: DeliveryStore, ids: string[]): Promise<string[]> {
  const counts = await Promise.all(ids.map((id) => store.count({ ids: [id] })));
  return ids.filter((_id, index) => counts[index] === 0);
}

async function inStore<Result>(work: (store: DeliveryStore) => Promise<Result>): Promise<Result> {
  const data = existingData();
  const store = await openStore(data, readSettings(data));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** With the names of the analysts' tables. */
function documentOf(postback: DeliveryState) {
  return {
    webhook_id: postback.webhookId,
    event: postback.kind,
    conversion_id: postback.conversionId,
    click_id: postback.clickId,
    site_key: postback.siteKey,
    user_id: postback.userId,
    offer_id: postback.offerId,
    reward: postback.reward,
    occurred_at: postback.occurredAt,
    enqueued_at: postback.enqueuedAt,
    state: postback.state,
    attempts: postback.attempts,
    last_attempt_at: postback.lastAttemptAt,
    last_status: postback.lastStatus,
    last_error: postback.lastError,
    delivered_at: postback.deliveredAt,
    next_attempt_at: postback.nextAttemptAt,
  };
}

function rowOf(postback: DeliveryState) {
  const {
    webhook_id,
    event,
    click_id,
    site_key,
    reward,
    occurred_at,
    state,
    attempts,
    last_status,
    last_error,
    next_attempt_at,
  } = documentOf(postback);
  return {
    webhook_id,
    event,
    click_id,
    site_key,
    reward,
    occurred_at,
    state,
    attempts,
    last_status,
    last_error,
    next_attempt_at,
  };
}
