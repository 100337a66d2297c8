import { knownPlaces } from '../../kit/intake/known-names.ts';
import { knownState, timeForms } from '../../kit/intake/known-values.ts';
import { mappedFields } from '../../kit/intake/mapping/mapped-fields.ts';
import { NumberReader, plainDecimal, plainNumber } from '../../kit/intake/mapping/numbers.ts';
import { scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { hasOwnOffset, timeReader } from '../../kit/intake/mapping/times.ts';
import { counted } from '../../kit/text/counted.ts';
import type { JsonObject } from '../../kit/text/json-text.ts';
import { readTimestamp } from '../../kit/time/timestamp-text.ts';
import { conversionKinds, type LandingKind } from '../../kit/vocabulary/values.ts';
import { joinedId } from './joined-id.ts';

/** A mapping for a file, as `offerline.json` would have it, with all that a person has to look at. */
export interface Proposal {
  /** Where each field of ours seems to stand, in the mapping's language. */
  fields: Record<string, unknown>;
  /** Where each of these names was seen before. */
  seen: Record<string, string>;
  /** Fields without which landing rejects every record, and nothing in the file that looks like them. */
  missing: string[];
  /** What could be read in another way, or was not decided. */
  doubts: string[];
}

const moneyFields = new Set(['payout']);
const capFields = new Set(['daily_cap', 'daily_click_cap']);
const timeFields = new Set(['clicked_at', 'occurred_at', 'changed_at', 'created_at', 'updated_at']);
const end = new Date('9999-12-31T23:59:59Z');

/**
 * Proposes a mapping from the names of places and the values of some records. Nothing is decided that may be doubted.
 */
export function proposeMapping(kind: LandingKind, places: readonly string[], records: readonly JsonObject[]): Proposal {
  const known = knownPlaces(kind, places);
  const proposal: Proposal = { fields: {}, seen: {}, missing: [], doubts: [] };
  const taken = new Set<string>();
  const valuesOf = (place: string) =>
    records.flatMap((record) => {
      const text = scalarText(valueAt(record, place))?.trim() ?? '';
      return text === '' ? [] : [text];
    });
  const required = mappedFields[kind].required.flat();
  const names = [...required, ...mappedFields[kind].names.filter((name) => !required.includes(name))];
  for (const field of names) {
    const candidates = (known.get(field) ?? []).filter(({ place }) => !taken.has(place));
    const [best, ...others] = candidates;
    if (best === undefined || isDecided(field, proposal)) continue;
    const rule = ruleFor(field, best.place, valuesOf(best.place), proposal);
    if (rule === undefined) continue;
    taken.add(best.place);
    proposal.fields[field] = rule;
    proposal.seen[field] = `"${best.place}": ${best.seen}`;
    if (others.length > 0)
      proposal.doubts.push(`${field} could be ${others.map(({ place }) => `"${place}"`).join(' or ')} as well`);
  }
  const joined = joinedId(proposal.fields, records);
  if (joined !== undefined) {
    const [id = '', ...others] = joined.places.map((place) => JSON.stringify(place));
    if (others.length > 0) proposal.fields['conversion_id'] = { at: joined.places, join: ':' };
    proposal.doubts.push(
      `conversion_id: ${id} alone is no id: ${counted(joined.repeated, 'record')} would not count, as an earlier one with it says something else. ${
        others.length > 0
          ? `Joined with ${others.join(' and ')} it is, unless these are changes of one conversion`
          : `Join what distinguishes such records with it, as in {"at": [${id}, "…"], "join": ":"}, unless these are changes of one conversion`
      }`,
    );
  }
  proposal.missing = mappedFields[kind].required
    .filter((choice) => !choice.some((name) => name in proposal.fields))
    .map((choice) => choice.join(' or '));
  if (kind === 'conversions' && !('payout' in proposal.fields)) {
    const amounts = places.filter((place) => !taken.has(place) && hasAmounts(valuesOf(place)));
    if (amounts.length > 0)
      proposal.doubts.push(
        `payout: is it ${amounts.map((place) => JSON.stringify(place)).join(' or ')}? Without it each conversion has the payout of the catalog`,
      );
  }
  if (kind === 'clicks' && 'external_id' in proposal.fields && !('offer_id' in proposal.fields))
    proposal.missing.push('source');
  // With all that is required found, the other columns are of no use to us.
  if (proposal.missing.length > 0)
    for (const place of places.filter((each) => !taken.has(each)).slice(0, maxHints)) {
      const hint = hintOf(place, valuesOf(place));
      if (hint !== undefined) proposal.doubts.push(hint);
    }
  return proposal;
}

/** True where most values are numbers with a fraction or the sign of a currency: whole ones may as well be ids. */
function hasAmounts(values: readonly string[]): boolean {
  const readers = [{}, ...numberForms].map((form) => new NumberReader({ ...plainNumber, strip: signs, ...form }));
  const isAmount = (value: string) => {
    // Accountants write what is below zero in brackets.
    const bare = value.replace(/^\((.*)\)$/, '$1');
    const mayBe = /\d[.,]\d/.test(bare) || signs.some((sign) => bare.includes(sign));
    return mayBe && readers.some((reader) => reader.read(bare) !== undefined);
  };
  return values.filter(isAmount).length * 2 > values.length;
}

/** Columns of unknown names that are looked at. */
const maxHints = 20;

/** Says how a column of an unknown name is read, where most of its values are times, or amounts with commas. */
function hintOf(place: string, values: readonly string[]): string | undefined {
  const readBy = (read: (value: string) => unknown) => values.filter((value) => read(value) !== undefined).length;
  const isMost = (read: (value: string) => unknown) => readBy(read) * 2 > values.length;
  const at = JSON.stringify(place);
  const patterns = timeReaders().map(({ time: pattern, read }) => ({ pattern, fits: readBy(read) }));
  const most = Math.max(...patterns.map(({ fits }) => fits));
  const [time, ...others] = patterns.filter(({ fits }) => fits === most).map(({ pattern }) => pattern);
  if (time !== undefined && most * 2 > values.length) {
    const zone = hasOwnOffset(time) ? '' : ', "zone": "Europe/Berlin"';
    return `${at} has times, which {"at": ${at}, "time": "${time}"${zone}} reads${others.length === 0 ? '' : `; ${fitAsWell(others)}`}`;
  }
  // Plain numbers may as well be ids.
  if (!isMost((value) => (/\d,\d/.test(value) ? value : undefined))) return undefined;
  const [number, read] = numberForms
    .map((form) => {
      const reader = new NumberReader({ ...plainNumber, ...form });
      return [form, readBy((value) => reader.read(value))] as const;
    })
    .reduce((best, next) => (next[1] > best[1] ? next : best));
  return read * 2 > values.length
    ? `${at} has amounts, which {"at": ${at}, "number": ${JSON.stringify(number)}} reads`
    : undefined;
}

/** True where another field says it: rows of state have no kinds. */
function isDecided(field: string, { fields }: Proposal): boolean {
  return (field === 'status' && 'kind' in fields) || (field === 'external_id' && 'offer_id' in fields);
}

/** Returns how a field is read at a place; undefined where its values are not of that field. */
function ruleFor(field: string, place: string, values: readonly string[], proposal: Proposal): unknown {
  if (field === 'kind')
    return values.length > 0 && values.every((value) => conversionKinds.some((kind) => kind === value))
      ? place
      : undefined;
  if (field === 'status' && proposal.fields['conversion_id'] !== undefined) return stateRule(place, values, proposal);
  if (moneyFields.has(field)) return moneyRule(field, place, values, proposal);
  if (timeFields.has(field)) return timeRule(field, place, values, proposal);
  return capFields.has(field) ? capRule(field, place, values, proposal) : place;
}

/** Exports write no limit as 0, which of ours would let nothing through. */
function capRule(field: string, place: string, values: readonly string[], { doubts }: Proposal): unknown {
  if (!values.some((value) => plainDecimal(value)?.units === 0n)) return place;
  doubts.push(`${field}: its 0 is taken for no limit; without "none" such an offer would take nothing`);
  return { at: place, none: [0] };
}

function stateRule(place: string, values: readonly string[], proposal: Proposal): unknown {
  const words = new Map(values.map((value) => [value.toLowerCase(), knownState(value)]));
  const unknown = [...words].flatMap(([word, state]) => (state === undefined ? [word] : []));
  if (unknown.length > 0)
    proposal.doubts.push(`status: what does ${unknown.map((word) => `"${word}"`).join(', ')} mean?`);
  const known = [...words].flatMap(([word, state]) => (state === undefined ? [] : [[word, state] as const]));
  return { at: place, words: Object.fromEntries(known) };
}

const signs = ['$', '€', '£', 'USD', 'EUR', 'GBP'];
const numberForms = [
  { decimal: ',' },
  { decimal: ',', group: '.' },
  { decimal: ',', group: ' ' },
  { group: ',' },
] as const;
/** A number whose points may as well be between thousands. */
const pointedThousands = /^-?[1-9]\d{0,2}(?:\.\d{3})+$/;

function moneyRule(field: string, place: string, values: readonly string[], proposal: Proposal): unknown {
  const found = signs.filter((sign) => values.some((value) => value.includes(sign)));
  const bare = values.map((value) => found.reduce((rest, sign) => rest.replace(sign, ''), value).trim());
  const pointed = bare.filter((value) => value.includes('.'));
  const isPointUnclear = pointed.length > 0 && pointed.every((value) => pointedThousands.test(value));
  const { best, others, unread } = bestForms(values, [{}, ...numberForms], (form) => {
    const reader = new NumberReader({ ...plainNumber, strip: found, ...form });
    return (value) => reader.read(value);
  });
  if (unread !== undefined) proposal.doubts.push(`${field}: not all of its values are amounts, such as "${unread}"`);
  if (isPointUnclear) proposal.doubts.push(`${field}: is the point its decimal point, or between thousands?`);
  else if (others.length > 0 && values.some((value) => value.includes(',')))
    proposal.doubts.push(`${field}: is the comma its decimal point, or between thousands?`);
  const number = { ...best, ...(found.length > 0 && { strip: found }) };
  return best === undefined || Object.keys(number).length === 0 ? place : { at: place, number };
}

/** Ways to write times that have to be named: seconds with a fraction, as nginx writes them, and patterns. */
function timeReaders(): { time: string; read: (value: string) => unknown }[] {
  const seconds = (value: string) => (/^\d{10}\.\d+$/.test(value) ? value : undefined);
  return [
    { time: 'epoch_s', read: seconds },
    ...timeForms.map(({ pattern }) => ({ time: pattern, read: timeReader(pattern, undefined) })),
  ];
}

function timeRule(field: string, place: string, values: readonly string[], proposal: Proposal): unknown {
  const faultOf = (value: string) => {
    const read = readTimestamp(value, end);
    return 'fault' in read ? read.fault : undefined;
  };
  const faults = new Set(values.map(faultOf));
  const ours = { time: undefined, read: (value: string) => (faultOf(value) === 'malformed' ? undefined : value) };
  const { best, others, unread } = bestForms(values, [ours, ...timeReaders()], ({ read }) => read);
  if (unread !== undefined)
    proposal.doubts.push(`${field}: no known pattern fits "${unread}"; write its own as "time"`);
  const withoutOffset = (where: string) =>
    proposal.doubts.push(`${field}: its times have no offset; name their zone, as in ${where}`);
  if (best?.time === undefined) {
    if (faults.has('timestamp_without_offset')) withoutOffset(`{"at": "${place}", "zone": "Europe/Berlin"}`);
    return place;
  }
  if (others.length > 0) proposal.doubts.push(`${field}: ${fitAsWell(others.flatMap(({ time }) => time ?? []))}`);
  if (!hasOwnOffset(best.time)) withoutOffset('"zone": "Europe/Berlin"');
  return { at: place, time: best.time };
}

/**
 * Finds the forms that read most of the values: the first of them, undefined where none reads any, and the others that
 * read as many. `unread`: a value that no form reads, else one that the best does not; undefined where it reads all.
 */
function bestForms<Form>(
  values: readonly string[],
  forms: readonly Form[],
  readerOf: (form: Form) => (value: string) => unknown,
): { best: Form | undefined; others: Form[]; unread: string | undefined } {
  const tried = forms.map((form) => {
    const read = readerOf(form);
    return { form, fitting: values.filter((value) => read(value) !== undefined) };
  });
  const most = Math.max(...tried.map(({ fitting }) => fitting.length));
  const [best, ...others] = tried.filter(({ fitting }) => fitting.length === most && (most > 0 || values.length === 0));
  const [byAny, byBest] = [new Set(tried.flatMap(({ fitting }) => fitting)), new Set(best?.fitting)];
  const unread = values.find((value) => !byAny.has(value)) ?? values.find((value) => !byBest.has(value));
  return { best: best?.form, others: others.map(({ form }) => form), unread };
}

function fitAsWell(patterns: readonly string[]): string {
  return `${patterns.map((pattern) => `"${pattern}"`).join(' or ')} would fit as well`;
}
