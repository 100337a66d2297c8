import { createHmac, randomInt } from 'node:crypto';
import type { DestinationMacro, PersonalValue } from '../../kit/config/tracker-settings.ts';
import type { Route } from '../../pipeline/routes/routes-file.ts';
import type { Click } from './click-row.ts';

/** Hex digits. */
const userHashLength = 32;

/**
 * Returns the value of each macro for a click, empty where there is none. `passed`: personal values that the advertiser
 * may have; `userKey`: makes hashes of users that nobody else can make.
 */
export function macroValue(
  click: Click,
  { source, external_id }: Route,
  passed: readonly PersonalValue[],
  userKey: Buffer,
): (value: DestinationMacro) => string {
  const { clickId, link, agent, country, address, at } = click;
  return (value) => {
    switch (value) {
      case 'click_id':
        return clickId;
      case 'offer_id':
        return String(link.offerId);
      case 'external_id':
        return external_id;
      case 'source':
        return source;
      case 'site_key':
        return link.siteKey;
      case 'user_hash':
        return userHash(userKey, link.siteKey, link.userId);
      case 'sub1':
        return link.sub1 ?? '';
      case 'sub2':
        return link.sub2 ?? '';
      case 'country':
        return country;
      case 'device':
        return agent.device ?? '';
      case 'os':
        return agent.system;
      case 'os_version':
        return agent.version;
      case 'timestamp':
        return String(Math.floor(at / 1000));
      case 'random':
        return String(randomInt(1e9));
      case 'user_id':
        return passed.includes(value) ? link.userId : '';
      case 'ip':
        return passed.includes(value) ? address : '';
      case 'user_agent':
        return passed.includes(value) ? agent.text : '';
      case 'gaid':
      case 'idfa':
      default: {
        const given = passed.includes(value) ? link.query[value] : undefined;
        return typeof given === 'string' ? given : '';
      }
    }
  };
}

/** Hash of a user of one site: the same user has another hash on every other site. */
function userHash(key: Buffer, siteKey: string, userId: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([siteKey, userId]))
    .digest('hex')
    .slice(0, userHashLength);
}
