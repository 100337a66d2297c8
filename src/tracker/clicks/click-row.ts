import ipaddr from 'ipaddr.js';
import type { TrackerSettings } from '../../kit/config/tracker-settings.ts';
import type { Agent } from '../agents/agents.ts';
import type { FollowedLink } from './click-request.ts';

/** A click that passed every check. */
export interface Click {
  clickId: string;
  link: FollowedLink;
  agent: Agent;
  /** Alpha-2, empty where unknown. */
  country: string;
  /** In full. */
  address: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A line of a click log, with the fields in the order in which ingest reads them quickest. */
export function clickLine({ clickId, link, agent, country, address, at }: Click, ip: TrackerSettings['ip']): string {
  return JSON.stringify({
    click_id: clickId,
    offer_id: link.offerId,
    site_key: link.siteKey,
    user_id: link.userId,
    clicked_at: new Date(at).toISOString(),
    country: country || undefined,
    device: agent.device,
    ip: keptAddress(address, ip) || undefined,
    user_agent: agent.text || undefined,
    sub1: link.sub1,
    sub2: link.sub2,
  });
}

/** The part of an address that is kept, empty where none is: later its network is enough to know. */
function keptAddress(address: string, ip: TrackerSettings['ip']): string {
  if (ip === 'none') return '';
  if (address.includes(':')) {
    if (ip === 'full') return address;
    const { parts } = ipaddr.IPv6.parse(address);
    return new ipaddr.IPv6([...parts.slice(0, 3), 0, 0, 0, 0, 0]).toString();
  }
  // A client that has gone before it was answered has none.
  const last = address.lastIndexOf('.');
  if (last === -1) return '';
  return ip === 'full' ? address : `${address.slice(0, last)}.0`;
}
