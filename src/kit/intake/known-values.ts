import type { ConversionKind } from '../vocabulary/values.ts';
import { plainName } from './reading/header-names.ts';

/*
 * Words of states and ways to write times in exports that people have, each with where it was seen. As names of fields
 * are, they are for proposing a mapping, never for reading a file.
 */

/** Where each word was seen, by the word. */
type WordsSeen = Readonly<Record<string, string>>;

/**
 * Words of states, and where each was seen. Numbers are left out: 2 is pending in one network, cancelled in the next.
 */
const words: Readonly<Record<ConversionKind, WordsSeen>> = {
  credit: {
    approved: 'TUNE, Everflow, Affise',
    approve: 'Binom help, Postback URL',
    confirmed: 'Affise API, QualityClick',
    sale: 'Keitaro',
    rebill: 'Keitaro',
    valid: 'easy',
    paid: 'easy',
    'paid out': 'QualityClick',
    final: 'Affilimate, transactions export',
    install: 'Adjust, kinds of activity',
    event: 'Adjust, kinds of activity',
  },
  pending: {
    pending: 'TUNE, Everflow, Affise, Affilimate',
    hold: 'Affise, Binom help',
    'on hold': 'Everflow',
    lead: 'Keitaro: the payout is not confirmed',
    open: 'QualityClick, easy',
  },
  reject: {
    rejected: 'TUNE, Everflow, Keitaro',
    reject: 'Binom help, Postback URL',
    declined: 'Affise',
    invalid: 'Everflow',
    cancelled: 'QualityClick, easy',
    canceled: 'Keitaro help, Status transformations; Affilimate',
    'not found': 'Affise',
    trash: 'an open tracker’s API of conversions, beside hold',
    rejected_install: 'Adjust, kinds of activity',
    fraud: 'trackdesk',
  },
  chargeback: { refunded: 'Affilimate, trackdesk', chargeback: 'affily, reasons of rejection' },
};

const stateByWord = new Map(
  Object.entries(words).flatMap(([state, seen]) =>
    Object.keys(seen).map((word): [string, ConversionKind] => [plainName(word), state as ConversionKind]),
  ),
);

/** Returns what a word says of a conversion; undefined for one that is not known. */
export function knownState(word: string): ConversionKind | undefined {
  return stateByWord.get(plainName(word));
}

/** A way to write times that needs a pattern. */
interface TimeForm {
  /** Of strptime. */
  pattern: string;
  example: string;
  seen: string;
}

/**
 * Patterns of times, besides those that are read without one: RFC 3339 and what says the same, and whole numbers since
 * the epoch. Days and months of two digits are distinguishable only where one is above 12, so both orders may fit, and
 * each order has the other one beside it: of a form alone nobody would ask.
 */
export const timeForms: readonly TimeForm[] = [
  { pattern: '%Y-%m-%d %I:%M:%S %p', example: '2026-11-18 01:05:09 PM', seen: 'Voluum reports' },
  { pattern: '%d/%b/%Y:%H:%M:%S %z', example: '18/Nov/2026:13:05:09 +0000', seen: 'access logs of nginx and Apache' },
  { pattern: '%a, %d %b %Y %H:%M:%S %Z', example: 'Wed, 18 Nov 2026 13:05:09 GMT', seen: 'HTTP and mail' },
  { pattern: '%d.%m.%Y %H:%M:%S', example: '18.11.2026 13:05:09', seen: 'German spreadsheets' },
  { pattern: '%d.%m.%Y %H:%M', example: '18.11.2026 13:05', seen: 'German spreadsheets' },
  {
    pattern: '%m/%d/%Y %I:%M:%S %p',
    example: '11/18/2026 1:05:09 PM',
    seen: 'AppsFlyer Push API, American spreadsheets',
  },
  { pattern: '%m/%d/%Y %I:%M %p', example: '11/18/2026 1:05 PM', seen: 'American spreadsheets' },
  { pattern: '%m/%d/%Y %H:%M:%S', example: '11/18/2026 13:05:09', seen: 'American spreadsheets' },
  { pattern: '%m/%d/%Y %H:%M', example: '11/18/2026 13:05', seen: 'American spreadsheets' },
  { pattern: '%d/%m/%Y %I:%M:%S %p', example: '18/11/2026 1:05:09 PM', seen: 'Australian spreadsheets' },
  { pattern: '%d/%m/%Y %I:%M %p', example: '18/11/2026 1:05 PM', seen: 'Australian spreadsheets' },
  { pattern: '%d/%m/%Y %H:%M:%S', example: '18/11/2026 13:05:09', seen: 'British spreadsheets' },
  { pattern: '%d/%m/%Y %H:%M', example: '18/11/2026 13:05', seen: 'British spreadsheets' },
  { pattern: '%Y/%m/%d %H:%M:%S', example: '2026/11/18 13:05:09', seen: 'Invoca, conversion reporting' },
  { pattern: '%Y-%m-%d', example: '2026-11-18', seen: 'lists by day, as of QualityClick' },
  { pattern: '%d.%m.%Y', example: '18.11.2026', seen: 'QualityClick CSV' },
];
