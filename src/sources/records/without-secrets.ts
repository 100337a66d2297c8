import { isJsonObject, JsonNumber, type JsonValue } from '../../kit/text/json-text.ts';
import type { CanonicalRecord } from '../connectors/connector.ts';
import type { NetworkConversion, NoConversion } from '../connectors/network-conversion.ts';

type Redact = (text: string) => string;

/** Characters of secrets that are looked for in records; shorter ones are in texts by accident. */
const minKey = 8;
/** Digits of those that are numbers: accounts have shorter ones, which are in ids and amounts by accident. */
const minNumber = 16;

/** True for a secret that no record has unless the network echoes it. */
export function isKey(secret: string): boolean {
  return secret.length >= (/^\d+$/.test(secret) ? minNumber : minKey);
}

/**
 * Removes secrets from an offer, but for its link, which may need the account's key. One with a secret in its id is
 * left out: without it two offers could be one.
 */
export function offerWithoutSecrets(made: CanonicalRecord, redact: Redact): CanonicalRecord {
  if (!('record' in made)) return made;
  const { external_id: id } = made.record;
  if (id !== undefined && redacted(id, redact) !== id) return { leftOut: 'secret_in_id' };
  const entries = Object.entries(made.record).map(
    ([name, value]) => [name, name === 'destination_url' ? value : redacted(value, redact)] as const,
  );
  if (entries.every(([name, value]) => value === made.record[name])) return made;
  return { record: Object.fromEntries(entries), warnings: [...(made.warnings ?? []), 'secret_removed'] };
}

/** Removes secrets from a conversion. One with a secret in an id is none: without it two could be one. */
export function conversionWithoutSecrets(
  read: NetworkConversion | NoConversion | undefined,
  redact: Redact,
): NetworkConversion | NoConversion | undefined {
  if (read === undefined || typeof read === 'string') return read;
  const { id, laterId, clickId, eventId, reason } = read;
  if ([id, laterId, clickId].some((each) => each !== undefined && redact(each) !== each)) return 'secret_in_id';
  return { ...read, eventId: eventId && redact(eventId), reason: reason && redact(reason) };
}

/** Returns the value itself where it has no secret. */
function redacted(value: JsonValue, redact: Redact): JsonValue {
  if (typeof value === 'string') return redact(value);
  if (value instanceof JsonNumber) {
    const text = redact(value.text);
    return text === value.text ? value : text;
  }
  if (Array.isArray(value)) {
    const members = value.map((member) => redacted(member, redact));
    return members.every((member, index) => member === value[index]) ? value : members;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [redact(name), redacted(member, redact), name] as const,
  );
  const isClean = entries.every(([shown, member, name]) => shown === name && member === value[name]);
  return isClean ? value : Object.fromEntries(entries.map(([shown, member]) => [shown, member]));
}
