import { mappingDigest } from '../landing-mappings.ts';
import type { Settings } from '../../../kit/config/settings.ts';

/**
 * The configuration that decides what a landing file says. The ledger keeps with each file what it was read with: where
 * that is another now, what it can mend is read again.
 */
export interface ReadingSettings {
  unpacked_gigabytes: number;
  time_zone: string | null;
  /** Digest of the mapping that the file was read by; null and absent where there was none. */
  mapping?: string | null;
  /** Of a file of states: its rows that became events. */
  emitted_rows?: number;
  /** The mode of a catalog. */
  mode?: 'full' | 'delta';
  /** The rates of the currencies that a catalog names, null where there was none. */
  rates?: Record<string, string | null>;
}

export type DecidingSettings = Pick<Settings, 'sources' | 'logs' | 'files' | 'rates' | 'unpacked_gigabytes'>;

/** Limits by the reason of quarantine that another value of the limit can heal. */
export const limits = {
  unpacked_too_large: 'unpacked_gigabytes',
  document_too_large: 'unpacked_gigabytes',
} as const satisfies Record<string, keyof ReadingSettings>;

export function logReadingSettings(
  settings: DecidingSettings,
  kind: 'clicks' | 'conversions',
  path: string,
): ReadingSettings {
  const { logs, unpacked_gigabytes } = settings;
  return { unpacked_gigabytes, time_zone: logs[kind].time_zone ?? null, ...mappedBy(settings, path) };
}

/** Only where there is a mapping: without one the ledger is as it always was. */
function mappedBy(settings: DecidingSettings, path: string): Pick<ReadingSettings, 'mapping'> {
  const mapping = mappingDigest(settings, path);
  return mapping === null ? {} : { mapping };
}

/** `currencies`: those that the file names. */
export function catalogReadingSettings(
  settings: DecidingSettings,
  { source, path }: { source: string; path: string },
  currencies: Iterable<string> = [],
): ReadingSettings {
  const { mode, time_zone = null } = sourceSettings(settings, source);
  const rates = Object.fromEntries(
    [...currencies].toSorted().map((currency) => [currency, rateOf(settings, currency)]),
  );
  return { unpacked_gigabytes: settings.unpacked_gigabytes, time_zone, mode, rates, ...mappedBy(settings, path) };
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
