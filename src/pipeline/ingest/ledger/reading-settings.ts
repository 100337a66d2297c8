import type { Settings } from '../../../kit/config/settings.ts';

/**
 * The configuration that decides what a landing file says. The ledger keeps with each file what it was read with: where
 * that is another now, what it can mend is read again.
 */
export interface ReadingSettings {
  unpacked_gigabytes: number;
  time_zone: string | null;
  /** The mode of a catalog. */
  mode?: 'full' | 'delta';
  /** The rates of the currencies that a catalog names, null where there was none. */
  rates?: Record<string, string | null>;
}

export type DecidingSettings = Pick<Settings, 'sources' | 'logs' | 'rates' | 'unpacked_gigabytes'>;

/** Limits by the reason of quarantine that another value of the limit can heal. */
export const limits = { unpacked_too_large: 'unpacked_gigabytes' } as const satisfies Record<
  string,
  keyof ReadingSettings
>;

export function logReadingSettings(
  { logs, unpacked_gigabytes }: DecidingSettings,
  kind: 'clicks' | 'conversions',
): ReadingSettings {
  return { unpacked_gigabytes, time_zone: logs[kind].time_zone ?? null };
}

/** `currencies`: those that the file names. */
export function catalogReadingSettings(
  settings: DecidingSettings,
  source: string,
  currencies: Iterable<string> = [],
): ReadingSettings {
  const { mode, time_zone = null } = sourceSettings(settings, source);
  const rates = Object.fromEntries(
    [...currencies].toSorted().map((currency) => [currency, rateOf(settings, currency)]),
  );
  return { unpacked_gigabytes: settings.unpacked_gigabytes, time_zone, mode, rates };
}

export function sourceSettings({ sources }: Pick<Settings, 'sources'>, source: string): Settings['sources'][string] {
  return (Object.hasOwn(sources, source) ? sources[source] : undefined) ?? { mode: 'full' };
}

export function rateOf({ rates }: Pick<Settings, 'rates'>, currency: string): string | null {
  return (Object.hasOwn(rates, currency) ? rates[currency] : undefined) ?? null;
}

/** Reads the ledger's column `read_with`. */
export function parseReadingSettings(text: string): ReadingSettings {
  return JSON.parse(text) as ReadingSettings;
}
