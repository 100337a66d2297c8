import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Command } from 'commander';
import { programFile } from '../../../kit/files/package-files.ts';
import { readSettings } from '../../../kit/config/settings.ts';
import { isLoopbackHost } from '../../../kit/http/loopback.ts';
import { refuseUnsafeListener } from '../../../console/access/safe-listener.ts';
import { readUsers } from '../../../console/access/users.ts';
import { addCommand, printAnswer, existingData } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { forgetConsoleAddress, recordConsoleAddress } from '../../console-address.ts';
import { disconnectFromStarter, reportToStarter } from '../../child-process.ts';
import { listen, withAddress } from '../../listen.ts';
import { leave, untilStopped } from '../../stop-signal.ts';
import { addConsoleUserCommands } from './console-users.ts';

interface ConsoleCommandOptions {
  port?: number;
  host?: string;
  json?: boolean;
}

export function addConsoleCommands(program: Command, context: CommandContext): void {
  const command = withAddress(
    addCommand(
      program,
      'console',
      "Serves the operators' and analysts' pages from the published snapshot",
      'Actions are commands of this page, previewed first; see src/console/README.md. On loopback it prints a link that lets in, once, within ten minutes; `console link` prints another.',
    ),
    { host: 'console.host of offerline.json, else 127.0.0.1', port: 'console.port of offerline.json, else 8081' },
  ).action((options: ConsoleCommandOptions) => runConsole(options, context));
  addConsoleUserCommands(command, context);
}

/**
 * On a busy machine publishers come first: this process, all of its threads and what it starts get less time than they
 * do. Where the system does not allow it all stays as it was.
 */
function stepBehindPublishers(): void {
  try {
    // The process's number alone means its first thread only; queries run in others.
    for (const thread of readdirSync('/proc/self/task'))
      setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // No Linux, or a container that forbids it.
  }
}

async function runConsole(options: ConsoleCommandOptions, context: CommandContext): Promise<void> {
  const data = existingData();
  const settings = readSettings(data);
  const { port = settings.console.port, host = settings.console.host } = options;
  const listening = { ...settings, console: { ...settings.console, host, port } };
  refuseUnsafeListener(listening, readUsers(data.consoleUsersFile).length);
  const { logger } = context.terminal;
  stepBehindPublishers();
  // Loaded here alone: no other command draws charts.
  const { createConsole } = await import('../../../console/console.ts');
  const main = programFile('src/cli/main');
  const launcher = { executable: process.execPath, words: [...process.execArgv, main] };
  const console = await createConsole({ data, settings: listening, log: logger, launcher });
  try {
    const address = await listen(console, host, port, 'console.');
    logger.info({ address }, 'the console listens');
    // Elsewhere the terminal is perhaps not the one of who opens the page: users sign in by their tokens.
    const link = isLoopbackHost(host) ? address + console.issueLink() : undefined;
    if (link !== undefined)
      await recordConsoleAddress(data, address).catch((error: unknown) =>
        logger.warn(
          { err: error },
          'the address of the console could not be written, so `offerline console link` will not find it',
        ),
      );
    // Before the answer, whose reader may ask for the end at once.
    const stopped = untilStopped();
    reportToStarter({ address, link: link ?? null });
    printAnswer(
      context,
      options,
      { address, link: link ?? null },
      link === undefined
        ? `The console listens on ${address}`
        : `Open ${link}\n(good once, for ten minutes; \`offerline console link\` prints another)`,
    );
    await stopped;
  } finally {
    logger.info('stopping the console');
    forgetConsoleAddress(data);
    await leave(console.close());
    disconnectFromStarter();
  }
}
