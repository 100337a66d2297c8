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

/** A line of a click log, with the fields in the order and the form that are read quickest. */
export function clickLine({ clickId, link, agent, country, address, at }: Click, ip: TrackerSettings['ip']): string {
  const kept = keptAddress(address, ip);
  let line = `{"click_id":"${clickId}","offer_id":${link.offerId},"site_key":${JSON.stringify(link.siteKey)}`;
  line += `,"user_id":${JSON.stringify(link.userId)},"clicked_at":"${momentText(at)}"`;
  if (country !== '') line += `,"country":"${country}"`;
  if (agent.device !== undefined) line += `,"device":"${agent.device}"`;
  if (kept !== '') line += `,"ip":"${kept}"`;
  if (agent.text !== '') line += `,"user_agent":${agent.json}`;
  if (link.sub1 !== undefined) line += `,"sub1":${JSON.stringify(link.sub1)}`;
  if (link.sub2 !== undefined) line += `,"sub2":${JSON.stringify(link.sub2)}`;
  return `${line}}`;
}

/** What is kept of an address: a network of it tells as much as anybody has to know later. */
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

let writtenMoment = Number.NaN;
let writtenText = '';

/** Written once for all clicks of a millisecond. */
function momentText(milliseconds: number): string {
  if (milliseconds !== writtenMoment) {
    writtenMoment = milliseconds;
    writtenText = new Date(milliseconds).toISOString();
  }
  return writtenText;
}
