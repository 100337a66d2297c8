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
  const sorting = new Sorting(scope);
  for (const { claim, conversion } of pairs) {
    sorting.takePair(claim, conversion);
    for (const row of claim.repeated) sorting.takeRepeated(row, conversion);
  }
  for (const claim of claims) {
    sorting.takeClaim(claim, clicks.get(claim.clickId), siteKey);
    for (const row of claim.repeated) sorting.takeRepeated(row, null);
  }
  for (const conversion of conversions) sorting.takeConversion(conversion);
  sorting.differences.sort(
    (one, other) =>
      differenceKinds.indexOf(one.difference) - differenceKinds.indexOf(other.difference) ||
      (one.line ?? 0) - (other.line ?? 0),
  );
  const { differences, agreed, outside } = sorting;
  return { differences, agreed, outside };
}

class Sorting implements Sorted {
  readonly differences: Difference[] = [];
  readonly agreed = { count: 0, there: 0n, here: 0n };
  readonly outside = { rows: 0, conversions: 0 };
  readonly #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  takePair(claim: Claim, conversion: OurConversion): void {
    const inThere = isInPeriod(claim.time, this.#scope);
    const inHere = isInPeriod(conversion.time, this.#scope);
    if (!inThere && !inHere) {
      this.outside.rows++;
      this.outside.conversions++;
      return;
    }
    const sides = { row: claim, conversion };
    const [there, here] = [claimDue(claim, conversion), conversionDue(conversion)];
    if (inThere !== inHere) {
      const detail = inThere ? 'in the period there, outside of it here' : 'in the period here, outside of it there';
      if (there > 0n || here > 0n)
        this.#add('late', sides, detail, { there: inThere ? there : 0n, here: inHere ? here : 0n });
    } else if (isDifferentState(claim, conversion)) {
      this.#add('state', sides, whyDifferentState(claim, conversion), { there, here });
    } else if (conversion.status === 'credited') {
      const gap = there - here;
      if ((gap < 0n ? -gap : gap) > this.#scope.tolerance) {
        const detail = `${pointsText(gap)} more there than here`.replace(/^-(\S+) more/, '$1 less');
        this.#add('amount', sides, detail, { there, here });
      } else {
        this.agreed.count++;
        this.agreed.there += there;
        this.agreed.here += here;
      }
    }
  }

  /** A row that the list has once more. */
  takeRepeated(row: PublisherReward, conversion: OurConversion | null): void {
    if (!isInPeriod(row.time, this.#scope)) this.outside.rows++;
    else if (row.state === 'credited') {
      const there = row.amount ?? conversion?.amount ?? 0n;
      this.#add('duplicate', { row, conversion }, 'listed there before', { there, here: 0n });
    }
  }

  /** A claim without a conversion here. One that is due on neither side is no difference. */
  takeClaim(claim: Claim, click: ClaimedClick | undefined, siteKey: string): void {
    const { asOf } = this.#scope;
    if (!isInPeriod(claim.time, this.#scope)) this.outside.rows++;
    else if (claim.state === 'credited' || claim.state === 'pending') {
      const sides = { row: claim, conversion: null };
      const due = { there: claim.state === 'credited' ? (claim.amount ?? 0n) : 0n, here: 0n };
      if (claim.time !== undefined && compareMoments(claim.time, asOf) > 0) {
        this.#add('late', sides, `later than the snapshot, which is as of ${asOf}`, due);
      } else if (click?.siteKey === siteKey) {
        const detail = `the click of ${click.clickedAt ?? 'unknown time'} has no further conversion`;
        this.#add('missing_here', sides, detail, due);
      } else {
        this.#add('unknown_click', sides, whyUnknownClick(click), due);
      }
    }
  }

  /** A conversion that the publisher does not list. */
  takeConversion(conversion: OurConversion): void {
    if (!isInPeriod(conversion.time, this.#scope)) this.outside.conversions++;
    else if (conversion.status === 'credited') {
      const { postback } = conversion;
      const sides = { row: null, conversion };
      const due = { there: 0n, here: conversion.amount ?? 0n };
      if (postback === null) this.#add('missing_there', sides, 'no postback was to be sent', due);
      else if (postback.deliveredAt !== null) {
        const late = !isInPeriod(postback.deliveredAt, this.#scope);
        const detail = `its postback was delivered at ${postback.deliveredAt}${late ? ', after the period' : ''}`;
        this.#add(late ? 'late' : 'missing_there', sides, detail, due);
      } else {
        const detail = `its postback is ${postback.state}${postback.lastError === null ? '' : `: ${postback.lastError}`}`;
        this.#add(postback.state === 'dead' ? 'missing_there' : 'late', sides, detail, due);
      }
    }
  }

  /** One of the sides may lack it. */
  #add(
    difference: DifferenceKind,
    { row, conversion }: { row: PublisherReward | null; conversion: OurConversion | null },
    detail: string,
    due: Difference['due'],
  ): void {
    this.differences.push({
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
      due,
    });
  }
}

/** Returns whether it is due on one side only. Rejected here and charged back there is no difference. */
function isDifferentState({ state }: Claim, { status }: OurConversion): boolean {
  if (status === 'credited') return state !== 'credited';
  return state === 'credited' || (state === 'pending' && status !== 'unattributed' && status !== 'pending');
}

function whyDifferentState({ state }: Claim, { status, reversedAt }: OurConversion): string {
  if (status === 'unattributed') return 'its offer or milestone is unknown here';
  return `${state} there, ${status} here${reversedAt === null ? '' : ` since ${reversedAt}`}`;
}

function whyUnknownClick(click: ClaimedClick | undefined): string {
  if (click === undefined) return 'no such click was ingested';
  return click.siteKey === null ? 'a conversion came, and waits for this click' : "the click is another site's";
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
