import type { Command } from 'commander';
import { programFile } from '../../../kit/files/package-files.ts';
import { addCommand, existingData, printAnswer } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

/** The limit of one call: assistants wait a minute. Milliseconds. */
const callMilliseconds = 55_000;

export function addMcpCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'mcp',
    'Answers assistants about published snapshots, by the Model Context Protocol on standard input and output',
    'An assistant starts it; at a terminal, and with --json, it prints what to write into the configuration of one. Over HTTP the console answers at /mcp; see sql/clients.md.',
  ).action(async (options: { json?: boolean }) => {
    const data = existingData();
    if (options.json || process.stdin.isTTY) {
      const configuration = configurationOf(data.root);
      const text = JSON.stringify(configuration, null, 2);
      printAnswer(
        context,
        options,
        configuration,
        `An assistant that speaks MCP starts it by this configuration:\n${text}`,
      );
      return;
    }
    const stop = stopSignal();
    // Loaded here alone: no other command speaks it.
    const { serveAssistant } = await import('../../../pipeline/analysis/mcp/serve-assistant.ts');
    await serveAssistant({ data, log: context.terminal.logger, callMilliseconds }, stop);
  });
}

/** This process again, as assistants start it. */
function configurationOf(dataFolder: string): object {
  const args = [...process.execArgv, programFile('src/cli/main'), 'mcp'];
  return { mcpServers: { offerline: { command: process.execPath, args, env: { OFFERLINE_DATA: dataFolder } } } };
}
