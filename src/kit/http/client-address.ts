import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

const addressesSeen = 1000;

/** Finds whose request it is, from the connection's other end and its `X-Forwarded-For`. */
export type ClientAddresses = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Clients as limits know them: an IPv4 address, or the /64 of an IPv6 one, since anyone who has one address of a /64
 * has them all.
 */
export function clientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const whole = wholeAddresses(trustedProxies);
  return (remoteAddress, forwardedFor) => addressGroup(whole(remoteAddress, forwardedFor));
}

/**
 * Clients by their whole addresses. `X-Forwarded-For` counts only as far as the given proxies and networks wrote it.
 */
export function wholeAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const isTrusted = isInNetwork(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    let client = plainAddress(remoteAddress ?? '');
    // A client that is gone already has no address any more; all such share one window.
    if (client === undefined) return unknownAddress;
    // Each proxy adds at the end whom it heard from: read backwards until one that nobody vouches for.
    for (const entry of forwardedFor?.split(',').toReversed() ?? []) {
      if (!isTrusted(client)) break;
      const before = plainAddress(entry.trim());
      if (before === undefined) break;
      client = before;
    }
    return client;
  };
}

/** Returns whether an address is one of the given ones, or in one of the given networks. */
export function isInNetwork(networks: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  // Nearly all requests come through the same few proxies, and to ask the list takes as long as to read a link.
  const seen = new LRUCache<string, boolean>({ max: addressesSeen });
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return (text = '') => {
    let isInside = seen.get(text);
    if (isInside === undefined) {
      const address = plainAddress(text);
      isInside = address !== undefined && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
      seen.set(text, isInside);
    }
    return isInside;
  };
}

/**
 * An address without port, brackets and zone; an IPv4 address that came over IPv6 as such. Undefined where it is none.
 */
function plainAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text;
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 0) return undefined;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
}

/** Address of a client that has gone. */
const unknownAddress = 'unknown';

/** Returns the key under which addresses count as one client. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return address;
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
