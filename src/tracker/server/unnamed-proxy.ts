import type { Settings } from '../../kit/config/settings.ts';
import { isLoopbackHost } from '../../kit/http/loopback.ts';

/**
 * Returns a warning where users come from elsewhere and no proxy is trusted; undefined where there is no need. The
 * tracker speaks no TLS, so as a rule a proxy is before it, and then all users have its address.
 */
export function unnamedProxy({
  tracking_url,
  trusted_proxies,
}: Pick<Settings, 'tracking_url' | 'trusted_proxies'>): string | undefined {
  if (tracking_url === undefined || trusted_proxies.length > 0) return undefined;
  const { hostname } = new URL(tracking_url);
  // An IPv6 address is in brackets there.
  if (isLoopbackHost(hostname.replaceAll(/^\[|\]$/g, ''))) return undefined;
  return (
    `tracking_url of offerline.json leads to ${hostname}, and trusted_proxies is empty: behind a proxy all users have ` +
    'its address, so at most 60 clicks a minute of a site pass, and countries and the lists of "allow" mean nothing; ' +
    'name the proxy there'
  );
}
