import { knownState } from '../../../kit/intake/known-values.ts';
import { plainName } from '../../../kit/intake/reading/header-names.ts';
import type { ConversionKind } from '../../../kit/vocabulary/values.ts';
import type { ClaimedState } from './list-mapping.ts';

const ours: Readonly<Record<ConversionKind, ClaimedState>> = {
  pending: 'pending',
  credit: 'credited',
  reject: 'rejected',
  chargeback: 'charged_back',
};

/** Words of publishers beside those that exports of networks have. A row that says nothing is a credit. */
const ownWords: Readonly<Record<ClaimedState, readonly string[]>> = {
  credited: ['', 'credited', 'credit', 'complete', 'completed', 'success', 'successful', 'ok', 'accepted', 'rewarded'],
  pending: ['onhold', 'waiting', 'review', 'inreview', 'processing'],
  rejected: ['denied', 'failed', 'void', 'voided'],
  charged_back: ['chargedback', 'chargeback', 'reversed', 'reversal', 'refund'],
};
const stateByWord = new Map(
  Object.entries(ownWords).flatMap(([state, words]) => words.map((word) => [word, state as ClaimedState] as const)),
);

/** Words that are the state of a conversion in one tracker, and in a list what it was for. */
const kindsOfConversions = new Set(['lead', 'sale', 'rebill', 'install', 'event', 'rejectedinstall']);

/** Returns what a publisher's word says of a reward; undefined for one that is not known. */
export function stateOfWord(text: string): ClaimedState | undefined {
  const word = plainName(text.trim()).replaceAll(/[.!]+$/g, '');
  const own = stateByWord.get(word);
  if (own !== undefined || kindsOfConversions.has(word)) return own;
  const known = knownState(word);
  return known && ours[known];
}
