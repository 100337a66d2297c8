import { alpha2Countries, readCountry } from './countries.ts';
import { readDevice } from './devices.ts';
import { devices } from './values.ts';

/** Targeting of an offer. `nothing`: the lists leave no place where it runs. */
export type Targeted = { values: string[]; warnings: string[] } | { nothing: true; warnings: string[] };

/**
 * Computes the countries of an allow list and a deny list in any spelling: the denied are removed from the allowed, or
 * from all where none is allowed by name. Empty values mean everywhere. An unknown word of an allow list is passed on,
 * so that landing warns of it; one of a deny list is a warning here.
 */
export function targetCountries(allowed: readonly string[], denied: readonly string[]): Targeted {
  return target(allowed, denied, countryWords);
}

/** Computes the devices of an allow list and a deny list, as `targetCountries` does. */
export function targetDevices(allowed: readonly string[], denied: readonly string[]): Targeted {
  return target(allowed, denied, deviceWords);
}

/** Words that a rule allows and denies, in any spelling; empty lists say nothing. */
export interface TargetRule {
  allowed?: readonly string[];
  denied?: readonly string[];
}

/**
 * Computes the devices left by several rules, such as one about systems and one about device types: all of them have to
 * hold. A rule of which no word is known is passed on as it is, so that landing refuses the offer instead of showing it
 * on all devices.
 */
export function targetDevicesByAll(rules: readonly TargetRule[]): Targeted {
  return targetByAll(rules, deviceWords);
}

/** Computes the countries left by several rules, as `targetDevicesByAll` does. */
export function targetCountriesByAll(rules: readonly TargetRule[]): Targeted {
  return targetByAll(rules, countryWords);
}

function targetByAll(rules: readonly TargetRule[], words: Words): Targeted {
  const warnings: string[] = [];
  let left: readonly string[] | undefined;
  for (const { allowed = [], denied = [] } of rules) {
    const rule = target(allowed, denied, words);
    warnings.push(...rule.warnings);
    if ('nothing' in rule) return { nothing: true, warnings };
    if (rule.values.length === 0) continue;
    const meant = rule.values.flatMap((word) => words.read(word) ?? []);
    if (meant.length === 0) return { values: rule.values, warnings };
    if (rule.values.some((word) => words.read(word) === undefined)) warnings.push(words.unknown);
    if (meant.includes('all')) continue;
    left = (left ?? words.all).filter((value) => meant.includes(value));
    if (left.length === 0) return { nothing: true, warnings };
  }
  return { values: [...(left ?? [])], warnings };
}

/** The words of one kind of targeting, with the warnings of one that nobody understands, allowed or denied. */
interface Words {
  all: readonly string[];
  read: (word: string) => readonly string[] | 'all' | undefined;
  unknown: string;
  deniedUnknown: string;
}

const countryWords: Words = {
  all: alpha2Countries,
  read: (word) => {
    const country = readCountry(word);
    return country === undefined || country === 'all' ? country : [country];
  },
  unknown: 'country_unknown',
  deniedUnknown: 'denied_country_unknown',
};

const deviceWords: Words = {
  all: devices,
  read: readDevice,
  unknown: 'device_unknown',
  deniedUnknown: 'denied_device_unknown',
};

function target(allowed: readonly string[], denied: readonly string[], { all, read, deniedUnknown }: Words): Targeted {
  const warnings: string[] = [];
  if (denied.length === 0) return { values: [...allowed], warnings };
  const without = new Set<string>();
  for (const word of denied) {
    const meant = read(word);
    if (meant === undefined) warnings.push(deniedUnknown);
    else if (meant === 'all') return { nothing: true, warnings };
    else for (const value of meant) without.add(value);
  }
  const meant = allowed.map((word) => read(word) ?? [word]);
  const base = meant.length === 0 || meant.includes('all') ? all : meant.flat();
  const left = base.filter((value) => !without.has(value));
  return left.length === 0 ? { nothing: true, warnings } : { values: left, warnings };
}
