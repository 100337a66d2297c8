import { alpha2Countries } from '../../kit/vocabulary/countries.ts';

/** An offer as a simulated network holds it: what must be in the catalog after a pull. */
export interface SimulatedOffer {
  /** Decimal text; networks send it as a number, as a text, or as either. */
  id: string;
  title: string;
  /** Plain text; networks send it as HTML. */
  description: string;
  /** Decimal text in `currency`. */
  payout: string;
  currency: string;
  /** Empty means everywhere. */
  countries: string[];
  categories: string[];
  dailyCap: number | null;
  /** Kind of payout: `share` is no fixed amount. */
  pays: 'flat' | 'share';
  isActive: boolean;
  forbidsIncentives: boolean;
}

/** Properties that a network has no way to say; its offers are without them. */
export interface Lacks {
  currency?: boolean;
  share?: boolean;
  cap?: boolean;
  paused?: boolean;
  incentives?: boolean;
  categories?: boolean;
  /** Number of offers. */
  total?: boolean;
}

const words = ['Castle', 'Coins', 'Survey', 'Bingo', 'Farm', 'Trivia', 'Wallet', 'Puzzle', 'Racer', 'Stream'];
const categories = ['Games', 'Finance', 'Surveys', 'Shopping'];

/**
 * Offers that are the same for the same count, with what real lists have: texts with markup, odd payouts, all kinds.
 */
export function simulatedOffers(count: number, lacks: Lacks = {}): SimulatedOffer[] {
  return Array.from({ length: count }, (_, index) => {
    const forbidsIncentives = lacks.incentives !== true && index % 50 === 7;
    return {
      id: String(1000 + index),
      title: `${words[index % 10]} & ${words[(index * 7 + 3) % 10]} ${index}${forbidsIncentives ? ' (no incent)' : ''}`,
      description: `Reach level ${index % 30} & win.\nNew users only <18 not allowed`,
      payout: payoutOf(index),
      currency: lacks.currency !== true && index % 20 === 3 ? 'EUR' : 'USD',
      countries: index % 4 === 0 ? [] : [...new Set([country(index), country(index * 3 + 1)])].toSorted(),
      categories: lacks.categories === true ? [] : [categories[index % 4] as string],
      dailyCap: lacks.cap !== true && index % 9 === 0 ? 100 + index : null,
      pays: lacks.share !== true && index % 25 === 11 ? 'share' : 'flat',
      isActive: lacks.paused === true || index % 40 !== 13,
      forbidsIncentives,
    };
  });
}

/** Digits that binary fractions cannot hold, and amounts with ends of zeros. */
function payoutOf(index: number): string {
  return `${index % 37}.${String((index * 7919) % 100).padStart(2, '0')}`;
}

function country(index: number): string {
  return alpha2Countries[index % alpha2Countries.length] as string;
}

/** A conversion as a simulated network holds it; the tests change what it says between pulls. */
export interface SimulatedConversion {
  id: string;
  /** The sub id that our link carried; null where somebody lost it. */
  clickId: string | null;
  status: 'approved' | 'pending' | 'rejected';
  /** Decimal text in USD. */
  payout: string;
  /** UTC, whole seconds, such as `2026-11-19T08:00:00Z`. */
  at: string;
}
