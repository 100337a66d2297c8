import type { OurConversion } from './our-conversions.ts';
import type { ClaimedState } from './list-mapping.ts';
import type { PublisherReward } from './publisher-file.ts';

/** A conversion in a publisher's list: one row, or several that credit and reverse it. */
export interface Claim extends PublisherReward {
  /** States of its rows, each once. */
  states: ClaimedState[];
  /** Further rows in one of these states. */
  repeated: PublisherReward[];
}

export interface Matched {
  pairs: { claim: Claim; conversion: OurConversion }[];
  /** Claims without a conversion. */
  claims: Claim[];
  /** Conversions without a claim. */
  conversions: OurConversion[];
}

/** Order of states: of several rows of a conversion the highest counts, since a reversal follows a credit. */
const finality: Record<ClaimedState, number> = { pending: 0, credited: 1, rejected: 2, charged_back: 3 };

/**
 * Pairs each conversion with at most one claim: by conversion id first; then, since publishers may number conversions
 * in their own way, by click, those with equal state and amount first.
 */
export function match(rewards: readonly PublisherReward[], conversions: readonly OurConversion[]): Matched {
  const ours = new Map(conversions.map((conversion) => [conversion.conversionId, conversion]));
  const pairs: Matched['pairs'] = [];
  const left: Claim[] = [];
  const claimed = new Set<OurConversion>();
  for (const claim of byConversionId(rewards)) {
    const conversion = claim.conversionId === undefined ? undefined : ours.get(claim.conversionId);
    if (conversion === undefined || conversion.clickId !== claim.clickId) left.push(claim);
    else {
      pairs.push({ claim, conversion });
      claimed.add(conversion);
    }
  }
  const open = Map.groupBy(
    conversions.filter((conversion) => !claimed.has(conversion)),
    ({ clickId }) => clickId,
  );
  const paired = Map.groupBy(pairs, ({ claim }) => claim.clickId);
  const claims: Claim[] = [];
  for (const [clickId, ofClick] of Map.groupBy(left, (claim) => claim.clickId)) {
    const found = matchClick(ofClick, open.get(clickId) ?? [], paired.get(clickId) ?? []);
    // No call takes as many arguments as one click may have rewards.
    for (const pair of found.pairs) pairs.push(pair);
    for (const claim of found.claims) claims.push(claim);
    open.set(clickId, found.conversions);
  }
  return { pairs, claims, conversions: [...open.values()].flat() };
}

/** One claim for each conversion id; a row without one is a claim of its own. */
function byConversionId(rewards: readonly PublisherReward[]): Claim[] {
  const claims: Claim[] = [];
  const known = new Map<string, Claim>();
  for (const reward of rewards) {
    const key = reward.conversionId === undefined ? undefined : JSON.stringify([reward.clickId, reward.conversionId]);
    const claim = key === undefined ? undefined : known.get(key);
    if (claim !== undefined) merge(claim, reward);
    else {
      const first: Claim = { ...reward, states: [reward.state], repeated: [] };
      claims.push(first);
      if (key !== undefined) known.set(key, first);
    }
  }
  return claims;
}

/**
 * Adds a row to a claim. A new state may become the claim's state and line, in any order; a known one is repeated.
 * Amount and time are those of the credit, else of the highest state, as ours are: those of other rows only fill gaps.
 */
function merge(claim: Claim, row: PublisherReward): void {
  const { state, line, amount, time } = row;
  if (claim.states.includes(state)) {
    claim.repeated.push(row);
    return;
  }
  const isHigher = finality[state] > finality[claim.state];
  const counts = state === 'credited' || (isHigher && !claim.states.includes('credited'));
  if (amount !== undefined && (counts || claim.amount === undefined)) claim.amount = amount;
  if (time !== undefined && (counts || claim.time === undefined)) claim.time = time;
  claim.states.push(state);
  if (isHigher) Object.assign(claim, { state, line });
}

/**
 * Pairs the claims and conversions of one click that have no common id. `paired`: pairs of this click that have one.
 */
function matchClick(claims: Claim[], conversions: OurConversion[], paired: Matched['pairs']): Matched {
  const pairs: Matched['pairs'] = [];
  const open = { claims: new Set(claims), conversions: new Set(conversions) };
  // Each claim takes the first conversion with its key.
  const pairBy = (keyOfClaim: (claim: Claim) => unknown, keyOfConversion: (conversion: OurConversion) => unknown) => {
    const queues = Map.groupBy([...open.conversions].toReversed(), keyOfConversion);
    for (const claim of open.claims) {
      const conversion = queues.get(keyOfClaim(claim))?.pop();
      if (conversion === undefined) continue;
      pairs.push({ claim, conversion });
      open.claims.delete(claim);
      open.conversions.delete(conversion);
    }
  };
  const isClaimed = ({ state }: Claim) => state === 'credited';
  const isDue = ({ status }: OurConversion) => status === 'credited';
  pairBy(
    (claim) => `${claim.amount} ${isClaimed(claim)}`,
    (conversion) => `${conversion.amount} ${isDue(conversion)}`,
  );
  pairBy(
    ({ amount }) => amount,
    ({ amount }) => amount,
  );
  pairBy(isClaimed, isDue);
  // A claim equal to one with a conversion is a further row of that one, and takes no other conversion.
  const known = [...paired, ...pairs];
  for (const claim of open.claims) {
    const same = known.find(
      ({ claim: other }) => claim.amount === undefined || other.amount === undefined || other.amount === claim.amount,
    );
    if (same === undefined) continue;
    merge(same.claim, claim);
    open.claims.delete(claim);
  }
  pairBy(
    () => true,
    () => true,
  );
  return { pairs, claims: [...open.claims], conversions: [...open.conversions] };
}
