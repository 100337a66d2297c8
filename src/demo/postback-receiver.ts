import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { listenAt, portOf } from '../kit/http/listening-address.ts';
import type { Logger } from '../kit/logging/log.ts';
import { isExampleName } from '../postbacks/http/example-route.ts';
import type { ConversionKind } from '../kit/vocabulary/values.ts';
import { signatureOf, webhookHeaders } from '../postbacks/http/signature.ts';
import { readPostbackAddress, type PostbackField } from '../kit/sites/postback-address.ts';
import type { Site } from '../kit/sites/sites.ts';
import { moneyText, parseMoney } from '../kit/text/decimal-text.ts';

/** Rewards received so far, each postback once however often it was sent. */
export interface RewardCounts {
  /** Credits. */
  rewards: number;
  chargebacks: number;
  rejects: number;
  /** Users of all sites who were credited. */
  users: number;
  /** Requests with a wrong signature, or that could not be understood. */
  refused: number;
}

export interface PostbackReceiver {
  /** On loopback. */
  port: number;
  counts(): RewardCounts;
  /** Sum of a user's credits in the site's points, as the shortest decimal text; "0" for a stranger. */
  creditedTo(siteKey: string, userId: string): string;
  /** Takes no more and says what came in all. */
  close(): Promise<void>;
}

/** A postback is some hundred bytes. */
const maxBodyBytes = 64 * 1024;
/** Rewards that come together are logged together. Milliseconds. */
const quietBeforeLogging = 1000;

/** Returns true for a site of a demo: its postbacks go to a name that is kept for examples. */
export function isDemoSite({ postback }: Site): boolean {
  if (postback === undefined) return false;
  const address = readPostbackAddress(postback.url);
  return 'origin' in address && isExampleName(new URL(address.origin).hostname);
}

/**
 * The publishers' end of a demo: takes the postbacks of all sites on one port of loopback, checks both signatures as a
 * publisher would, counts each webhook id once, and logs how many rewards came. `sites` gives the sites as they are
 * now.
 */
export async function startPostbackReceiver(sites: () => readonly Site[], logger: Logger): Promise<PostbackReceiver> {
  const received = new Set<string>();
  /** Millionths of a point, by site and user. */
  const credited = new Map<string, bigint>();
  const counts: RewardCounts = { rewards: 0, chargebacks: 0, rejects: 0, users: 0, refused: 0 };
  let timer: NodeJS.Timeout | undefined;

  function logRewards(): void {
    clearTimeout(timer);
    timer = undefined;
    logger.info(counts, `${counts.rewards} rewards received by the demo's publishers`);
  }

  /** Gives the status to answer with. */
  function receive(request: IncomingMessage, body: string): 200 | 401 {
    const postback = authentic(request, body, sites());
    if (postback === undefined) {
      counts.refused += 1;
      logger.warn({ host: request.headers.host }, "the demo's publishers refuse a postback: its signature is wrong");
      return 401;
    }
    if (received.has(postback.webhookId)) return 200;
    received.add(postback.webhookId);
    if (postback.event === 'chargeback') counts.chargebacks += 1;
    else if (postback.event === 'reject') counts.rejects += 1;
    else if (postback.event === 'credit') {
      counts.rewards += 1;
      const user = userKey(postback.siteKey, postback.userId);
      credited.set(user, (credited.get(user) ?? 0n) + (parseMoney(postback.reward) ?? 0n));
      counts.users = credited.size;
    }
    timer ??= setTimeout(logRewards, quietBeforeLogging).unref();
    return 200;
  }

  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => response.writeHead(body === undefined ? 413 : receive(request, body)).end())
      // The sender is gone.
      .catch(() => request.destroy());
  });
  // The receiver keeps no process alive.
  server.unref();
  const address = await listenAt(server, { host: '127.0.0.1', port: 0 });
  return {
    port: portOf(address),
    counts: () => ({ ...counts }),
    creditedTo: (siteKey, userId) => moneyText(credited.get(userKey(siteKey, userId)) ?? 0n),
    async close() {
      const closed = new Promise((resolve) => void server.close(resolve));
      server.closeAllConnections();
      await closed;
      logRewards();
    },
  };
}

function userKey(siteKey: string, userId: string): string {
  return JSON.stringify([siteKey, userId]);
}

/** The body as text; undefined where it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Fields of a request whose two signatures are those of the site that it names; else undefined. */
function authentic(request: IncomingMessage, body: string, sites: readonly Site[]) {
  const { method, url = '', headers } = request;
  const site = sites.find((each) => isDemoSite(each) && hostOf(each) === headers.host);
  if (site === undefined) return undefined;
  const fields = method === 'POST' ? fieldsOfBody(body) : fieldsOfQuery(url, site);
  const { event = '', site_key: siteKey = '', user_id: userId = '', click_id: clickId = '', reward = '' } = fields;
  const webhookId = String(headers['webhook-id']);
  const sentAt = Number(headers['webhook-timestamp']) * 1000;
  const postback = { webhookId, event: event as ConversionKind, siteKey, userId, clickId, reward };
  const ofContent = webhookHeaders([site.site_secret], webhookId, sentAt, method === 'POST' ? body : url);
  const isSigned =
    equal(String(headers['webhook-signature']).split(' ')[0] ?? '', String(ofContent['webhook-signature'])) &&
    equal(fields.signature ?? '', signatureOf(site.site_secret, postback));
  return isSigned && siteKey === site.site_key ? postback : undefined;
}

function hostOf(site: Site): string {
  const address = readPostbackAddress(site.postback?.url ?? '');
  return 'origin' in address ? new URL(address.origin).host : '';
}

type Fields = Partial<Record<PostbackField, string>>;

function fieldsOfBody(body: string): Fields {
  try {
    const asWritten = (_key: string, value: unknown, { source }: { source?: string }) =>
      typeof value === 'number' ? source : value;
    return (JSON.parse(body, asWritten as (key: string, value: unknown) => unknown) ?? {}) as Fields;
  } catch {
    return {};
  }
}

/** Fields by the names that the site's address gives to the macros, else by their own. */
function fieldsOfQuery(url: string, site: Site): Fields {
  const query = new URL(url, 'http://publisher').searchParams;
  const fields: Record<string, string> = Object.fromEntries(query);
  for (const [name, macro] of URL.parse(site.postback?.url ?? '')?.searchParams ?? []) {
    const field = /^\{(\w+)\}$/.exec(macro)?.[1];
    if (field !== undefined) fields[field] = query.get(name) ?? '';
  }
  return fields;
}

function equal(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
