import type { LimitBucket, CountingLimits, LimitStatus, RateLimits } from '../../kit/http/sliding-windows.ts';
import type { RedisCounter } from './redis-counter.ts';

/**
 * Windows of one scope over all servers, counted in Redis. While it is away this server allows its share by its own
 * counter, which also has the requests that it let in by Redis.
 */
export class SharedWindows implements RateLimits {
  readonly #scope: string;
  readonly #redis: RedisCounter;
  readonly #local: CountingLimits;
  readonly #servers: number;
  readonly #nextId: () => string;

  constructor(scope: string, redis: RedisCounter, local: CountingLimits, servers: number, nextId: () => string) {
    this.#scope = scope;
    this.#redis = redis;
    this.#local = local;
    this.#servers = servers;
    this.#nextId = nextId;
  }

  async consume(bucket: LimitBucket, now: number): Promise<LimitStatus> {
    const decision = await this.#redis.count(this.#scope, bucket, this.#nextId());
    if (decision === undefined)
      return { ...(await this.#local.consume(this.#shareOf(bucket), now)), limit: bucket.limit };
    if (decision.allowed) await this.#local.count(bucket, now);
    return statusOf(bucket, decision, now);
  }

  async peek(bucket: LimitBucket, now: number): Promise<LimitStatus> {
    const decision = await this.#redis.count(this.#scope, bucket);
    if (decision === undefined) return { ...(await this.#local.peek(this.#shareOf(bucket), now)), limit: bucket.limit };
    return statusOf(bucket, decision, now);
  }

  #shareOf(bucket: LimitBucket): LimitBucket {
    return { ...bucket, limit: Math.floor(bucket.limit / this.#servers) };
  }
}

/** The window by this server's clock. */
function statusOf(
  { limit, length }: LimitBucket,
  { allowed, counted, now: redisNow, oldestAt, blockingAt }: Awaited<ReturnType<RedisCounter['count']>> & object,
  now: number,
): LimitStatus {
  const leavesAt = (at: number) => (at === 0 ? now : at + length - redisNow + now);
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - counted),
    resetAt: leavesAt(oldestAt),
    freeAt: leavesAt(blockingAt),
  };
}
