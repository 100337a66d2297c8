import type { Command } from 'commander';
import { UsageError } from '../kit/errors/errors.ts';
import { wholeNumber } from './answer.ts';

/** Adds the options that say where to listen; `defaults` as the help shows them. */
export function withAddress(command: Command, defaults: { host: string; port: string }): Command {
  return command
    .option('--port <n>', `port to listen on; 0 is any free one (default: ${defaults.port})`, wholeNumber(0, 65535))
    .option('--host <address>', `address to listen on (default: ${defaults.host})`);
}

/**
 * Starts to listen and gives the address. `settings`: where in offerline.json host and port are, such as `tracker.`.
 * Throws `UsageError` saying what to do where the address is taken or not of this machine.
 */
export async function listen(
  service: { listen(at: { host: string; port: number }): Promise<string> },
  host: string,
  port: number,
  settings: '' | 'tracker.' | 'console.' | 'metrics.',
): Promise<string> {
  try {
    return await service.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new UsageError(
        `port ${port} of ${host} is in use: stop what listens there, or choose another by ${settings}port of offerline.json or ${optionOf(settings, 'port')}`,
        { cause: error },
      );
    if (['EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND', 'EAI_AGAIN'].includes(code ?? ''))
      throw new UsageError(
        `${host}:${port} cannot be listened on (${code}): choose another by ${settings}host and ${settings}port of offerline.json, or ${optionOf(settings, 'host')} and ${optionOf(settings, 'port')}`,
        {
          cause: error,
        },
      );
    throw error;
  }
}

function optionOf(settings: string, name: 'host' | 'port'): string {
  return settings === 'metrics.' ? `--metrics-${name}` : `--${name}`;
}
