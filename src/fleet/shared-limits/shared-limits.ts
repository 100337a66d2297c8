import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readSecret, Redactor } from '../../kit/config/secrets.ts';
import { isRedisAddress } from '../../kit/config/settings.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import type { Metrics } from '../../kit/metrics/metrics.ts';
import { openLocalCounters, RequestLimits } from '../../serve/access/limits.ts';
import { CountedServers, reportMilliseconds } from './counted-servers.ts';
import { RedisCounter } from './redis-counter.ts';
import { SharedWindows } from './shared-windows.ts';

export interface SharedLimitsOptions {
  data: DataDirectory;
  settings: NonNullable<Settings['limits']>;
  /** Wall clock, milliseconds since the epoch. */
  now: () => number;
  log: Logger;
  metrics: Metrics;
  /** See `RedisCounterOptions`. */
  clock?: string;
  patience?: number;
}

/**
 * Opens limits over several servers, counted in Redis. Throws `UsageError` where its address cannot be used, and
 * `OfferlineError` where this server's own counters cannot be written.
 */
export async function openRedisLimits(options: SharedLimitsOptions): Promise<RequestLimits> {
  const { data, settings, now, log, metrics, clock, patience } = options;
  const { servers } = settings;
  const address = readSecret('limits.redis', settings.redis);
  if (!isRedisAddress(address))
    throw new UsageError(
      'limits.redis: what it refers to is not an address such as redis://host:6379/0; a % in it is written %25',
    );
  const { password } = new URL(address);
  const redactor = new Redactor([address, password, decodeURIComponent(password)]);
  const local = openLocalCounters(data, now(), log);

  const losses = metrics.counter('offerline_limits_redis_losses', 'How often Redis was lost since the start.');
  const redis = await RedisCounter.open({
    address,
    clock,
    patience,
    onLost(reason) {
      losses.inc();
      log.error(
        { reason: redactor.redact(reason), servers },
        'Redis does not count the rate limits: until it does, this server allows its share of them by its own counter',
      );
    },
    onBack: () => log.info('Redis counts the rate limits again'),
  });
  metrics.gauge(
    'offerline_limits_shared',
    'Whether rate limits are counted in Redis over all servers; 0 while it is away and this server allows its part.',
    () => (redis.isThere ? 1 : 0),
  );

  const server = randomBytes(6).toString('base64url');
  const counted = new CountedServers(() => redis.countServers(server), servers, log);
  const reporting = setInterval(() => void counted.look(), reportMilliseconds).unref();
  let requests = 0;
  const nextId = () => `${server}.${(requests++).toString(36)}`;
  const shared = (scope: 'site' | 'address' | 'failure') =>
    new SharedWindows(scope, redis, local[scope], servers, nextId);
  return new RequestLimits({ site: shared('site'), address: shared('address') }, shared('failure'), () => {
    clearInterval(reporting);
    redis.close();
    local.close();
  });
}
