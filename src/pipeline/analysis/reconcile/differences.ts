import { addDays, compareMoments, startOfDay, type Day, type Moment } from '../../../kit/time/moment.ts';
import { pointsText, type Amount } from '../../../kit/text/decimal-text.ts';
import type { Claim, Matched } from './match.ts';
import type { ClaimedClick, OurConversion } from './our-conversions.ts';
import type { PublisherReward } from './publisher-file.ts';

/** Kinds of differences between a publisher's list and ours, in the order of a report. */
export const differenceKinds = [
  'missing_there',
  'missing_here',
  'amount',
  'state',
  'duplicate',
  'late',
  'unknown_click',
] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

export interface Difference {
  difference: DifferenceKind;
  click_id: string;
  conversion_id: string | null;
  offer_id: number | null;
  /** Line of the publisher's file; null where the file lacks the conversion. */
  line: number | null;
  state_there: string | null;
  state_here: string | null;
  amount_there: string | null;
  amount_here: string | null;
  time_there: Moment | null;
  time_here: Moment | null;
  /** Explanation for the operator. */
  detail: string;
  /** Amount that each side counts as due because of it. */
  due: { there: Amount; here: Amount };
}

export interface Scope {
  /** UTC days, both included; null is open. Leaves out what both sides have outside of them. */
  from: Day | null;
  to: Day | null;
  /** Largest difference of equal amounts. */
  tolerance: Amount;
  /** As-of of the snapshot, which lacks what happened later. */
  asOf: Moment;
}

export interface Sorted {
  differences: Difference[];
  /** Number and sums of the conversions that both sides have as due at equal amounts. */
  agreed: { count: number; there: Amount; here: Amount };
  /** Rows of the file and conversions of ours outside of the period, not looked at. */
  outside: { rows: number; conversions: number };
}

/** Sorts matched and unmatched rows into differences and agreement. `clicks`: those of unmatched claims. */
export function sortDifferences(
  { pairs, claims, conversions }: Matched,
  clicks: ReadonlyMap<string, ClaimedClick>,
  siteKey: string,
  scope: Scope,
): Sorted {
  const sorted: Sorted = {
    differences: [],
    agreed: { count: 0, there: 0n, here: 0n },
    outside: { rows: 0, conversions: 0 },
  };
  for (const { claim, conversion } of pairs) {
    sortPair(sorted, claim, conversion, scope);
    for (const row of claim.repeated) sortRepeated(sorted, row, conversion, scope);
  }
  for (const claim of claims) {
    sortClaim(sorted, claim, clicks.get(claim.clickId), siteKey, scope);
    for (const row of claim.repeated) sortRepeated(sorted, row, null, scope);
  }
  for (const conversion of conversions) sortConversion(sorted, conversion, scope);
  sorted.differences.sort(
    (one, other) =>
      differenceKinds.indexOf(one.difference) - differenceKinds.indexOf(other.difference) ||
      (one.line ?? 0) - (other.line ?? 0),
  );
  return sorted;
}

function sortPair(sorted: Sorted, claim: Claim, conversion: OurConversion, scope: Scope): void {
  const inThere = isInPeriod(claim.time, scope);
  const inHere = isInPeriod(conversion.time, scope);
  if (!inThere && !inHere) {
    sorted.outside.rows++;
    sorted.outside.conversions++;
    return;
  }
  const [there, here] = [claimDue(claim, conversion), conversionDue(conversion)];
  if (inThere !== inHere) {
    const detail = inThere ? 'in the period there, outside of it here' : 'in the period here, outside of it there';
    if (there > 0n || here > 0n)
      add(sorted, 'late', claim, conversion, detail, inThere ? there : 0n, inHere ? here : 0n);
  } else if (isDifferentState(claim, conversion)) {
    const since = conversion.reversedAt === null ? '' : ` since ${conversion.reversedAt}`;
    const why =
      conversion.status === 'unattributed'
        ? 'its offer or milestone is unknown here'
        : `${claim.state} there, ${conversion.status} here${since}`;
    add(sorted, 'state', claim, conversion, why, there, here);
  } else if (conversion.status === 'credited') {
    const gap = there - here;
    if ((gap < 0n ? -gap : gap) > scope.tolerance)
      add(
        sorted,
        'amount',
        claim,
        conversion,
        `${pointsText(gap)} more there than here`.replace(/^-(\S+) more/, '$1 less'),
        there,
        here,
      );
    else
      sorted.agreed = {
        count: sorted.agreed.count + 1,
        there: sorted.agreed.there + there,
        here: sorted.agreed.here + here,
      };
  }
}

/** Returns whether it is due on one side only. Rejected here and charged back there is no difference. */
function isDifferentState({ state }: Claim, { status }: OurConversion): boolean {
  if (status === 'credited') return state !== 'credited';
  return state === 'credited' || (state === 'pending' && status !== 'unattributed' && status !== 'pending');
}

function sortRepeated(sorted: Sorted, row: PublisherReward, conversion: OurConversion | null, scope: Scope): void {
  if (!isInPeriod(row.time, scope)) sorted.outside.rows++;
  else if (row.state === 'credited')
    add(sorted, 'duplicate', row, conversion, 'listed there before', row.amount ?? conversion?.amount ?? 0n, 0n);
}

/** Sorts a claim without a conversion here. One that is due on neither side is no difference. */
function sortClaim(sorted: Sorted, claim: Claim, click: ClaimedClick | undefined, siteKey: string, scope: Scope): void {
  if (!isInPeriod(claim.time, scope)) sorted.outside.rows++;
  else if (claim.state === 'credited' || claim.state === 'pending') {
    const there = claim.state === 'credited' ? (claim.amount ?? 0n) : 0n;
    if (claim.time !== undefined && compareMoments(claim.time, scope.asOf) > 0) {
      add(sorted, 'late', claim, null, `later than the snapshot, which is as of ${scope.asOf}`, there, 0n);
    } else if (click?.siteKey === siteKey) {
      add(
        sorted,
        'missing_here',
        claim,
        null,
        `the click of ${click.clickedAt ?? 'unknown time'} has no further conversion`,
        there,
        0n,
      );
    } else {
      const why =
        click === undefined
          ? 'no such click was ingested'
          : click.siteKey === null
            ? 'a conversion came, and waits for this click'
            : "the click is another site's";
      add(sorted, 'unknown_click', claim, null, why, there, 0n);
    }
  }
}

/** Sorts a conversion that the publisher does not list. */
function sortConversion(sorted: Sorted, conversion: OurConversion, scope: Scope): void {
  if (!isInPeriod(conversion.time, scope)) sorted.outside.conversions++;
  else if (conversion.status === 'credited') {
    const { postback } = conversion;
    const here = conversion.amount ?? 0n;
    if (postback === null) add(sorted, 'missing_there', null, conversion, 'no postback was to be sent', 0n, here);
    else if (postback.deliveredAt !== null) {
      const late = !isInPeriod(postback.deliveredAt, scope);
      add(
        sorted,
        late ? 'late' : 'missing_there',
        null,
        conversion,
        `its postback was delivered at ${postback.deliveredAt}${late ? ', after the period' : ''}`,
        0n,
        here,
      );
    } else {
      const dead = postback.state === 'dead';
      add(
        sorted,
        dead ? 'missing_there' : 'late',
        null,
        conversion,
        `its postback is ${postback.state}${postback.lastError === null ? '' : `: ${postback.lastError}`}`,
        0n,
        here,
      );
    }
  }
}

function add(
  sorted: Sorted,
  difference: DifferenceKind,
  row: PublisherReward | null,
  conversion: OurConversion | null,
  detail: string,
  there: Amount,
  here: Amount,
): void {
  sorted.differences.push({
    difference,
    click_id: row?.clickId ?? conversion?.clickId ?? '',
    conversion_id: conversion?.conversionId ?? row?.conversionId ?? null,
    offer_id: conversion?.offerId ?? null,
    line: row?.line ?? null,
    state_there: row?.state ?? null,
    state_here: conversion?.status ?? null,
    amount_there: row?.amount === undefined ? null : pointsText(row.amount),
    amount_here: conversion?.amount === undefined ? null : pointsText(conversion.amount),
    time_there: row?.time ?? null,
    time_here: conversion?.time ?? null,
    detail,
    due: { there, here },
  });
}

/** Returns the amount that is due there; without one in the list, the amount here. */
function claimDue(claim: Claim, conversion: OurConversion): Amount {
  return claim.state === 'credited' ? (claim.amount ?? conversion.amount ?? 0n) : 0n;
}

function conversionDue({ status, amount }: OurConversion): Amount {
  return status === 'credited' ? (amount ?? 0n) : 0n;
}

/** Returns whether a moment is in the period. A row without a time belongs to the period of the list. */
function isInPeriod(time: Moment | undefined, { from, to }: Scope): boolean {
  if (time === undefined) return true;
  return (
    (from === null || compareMoments(time, startOfDay(from)) >= 0) &&
    (to === null || compareMoments(time, startOfDay(addDays(to, 1))) < 0)
  );
}
