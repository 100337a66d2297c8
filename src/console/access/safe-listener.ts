import { createSecureContext } from 'node:tls';
import { readRegularFile } from '../../kit/config/regular-file.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { isLoopbackHost } from '../../kit/http/loopback.ts';

/**
 * Throws `UsageError` where the console would listen beyond this machine without users, or without TLS. `users`: their
 * number.
 */
export function refuseUnsafeListener(settings: Pick<Settings, 'console' | 'trusted_proxies'>, users: number): void {
  const { host, tls, proxy_header } = settings.console;
  if (proxy_header !== undefined && settings.trusted_proxies.length === 0)
    throw new UsageError(
      'console.proxy_header of offerline.json needs trusted_proxies, which is empty: add the proxy there, or remove the header',
    );
  if (isLoopbackHost(host)) return;
  if (users === 0)
    throw new UsageError(
      `the console does not listen on ${host} without users: add one with \`offerline console add <name> --role operator\`, or listen on 127.0.0.1`,
    );
  if (tls === undefined && settings.trusted_proxies.length === 0)
    throw new UsageError(
      `the console does not listen on ${host} without TLS: set console.tls (key and cert) in offerline.json, add its proxy to trusted_proxies, or listen on 127.0.0.1`,
    );
}

/** Reads key and certificate. Throws `UsageError` where they cannot be read or do not belong together. */
export function readTls(tls: NonNullable<Settings['console']['tls']>): { key: Buffer; cert: Buffer } {
  const pair = { key: read('key', tls.key), cert: read('cert', tls.cert) };
  try {
    createSecureContext(pair);
  } catch (error) {
    // OpenSSL's message never has the key's content.
    throw new UsageError(
      `console.tls of offerline.json: ${tls.key} and ${tls.cert} are not a key and its certificate: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return pair;
}

function read(name: 'key' | 'cert', file: string): Buffer {
  try {
    return readRegularFile(file);
  } catch (error) {
    throw new UsageError(`console.tls.${name} of offerline.json cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
