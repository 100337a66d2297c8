import { createHash } from 'node:crypto';
import type { Site } from '../../../kit/sites/sites.ts';

const names = [
  'Coinquest',
  'Rewardly',
  'Perkhaven',
  'Surveyloft',
  'Lootlane',
  'Pocketperks',
  'Gemharbor',
  'Tapbounty',
  'Clickgarden',
  'Bonusbay',
  'Questnook',
  'Tokentrail',
];
const variants = ['A', 'B', 'C'] as const;
const commissions = [0.2, 0.25, 0.3, 0.15, 0.175, 0, 0.35];
const rewardRates = [100, 1000, 1, 250];

/** The fewest sites that show every variant and a pending one. */
export const fewestSites = 4;

/**
 * Publisher sites of all variants, the most visited first and the last one pending. Their secrets follow from the
 * seed, so that a demo can be repeated: anybody can compute them, they are for demos and tests alone.
 */
export function publisherSites(seed: number, count: number): Site[] {
  return Array.from({ length: count }, (_, index): Site => {
    const round = Math.floor(index / names.length);
    const name = `${names[index % names.length]}${round === 0 ? '' : ` ${round + 1}`}`;
    const key = name.toLowerCase().replace(' ', '-');
    const variant = variants[index % variants.length] as Site['variant'];
    return {
      site_key: key,
      site_secret: createHash('sha256').update(`offerline demo secret ${seed} ${key}`).digest('hex'),
      name,
      status: index === count - 1 ? 'pending' : 'active',
      variant,
      commission: commissions[index % commissions.length] as number,
      reward_rate: rewardRates[index % rewardRates.length] as number,
      // The first of each variant are the ones people try by hand, which ten requests an hour would soon end.
      rate_limit_per_hour: index < variants.length ? 600 : 10,
      ...postbackOf(key, variant, index),
    };
  });
}

/** Addresses under `.example`, which no name server knows: nothing of a demo reaches a stranger. */
function postbackOf(key: string, variant: Site['variant'], index: number): Pick<Site, 'postback'> | undefined {
  if (variant === 'A') {
    const macros = 'user={user_id}&amount={reward}&status={event}&click={click_id}&site={site_key}&sig={signature}';
    return { postback: { url: `https://${key}.example/postback?${macros}`, method: 'GET' } };
  }
  return index % 5 === 2 ? { postback: { url: `https://${key}.example/hooks/rewards`, method: 'POST' } } : undefined;
}
