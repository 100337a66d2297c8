import { landingFieldNames, type LandingFieldName } from '../../kit/vocabulary/offer-fields.ts';
import {
  conversionKinds,
  devices,
  formats,
  offerStatuses,
  paymentTerms,
  reportCategories,
  trackingTypes,
  type EventKind,
  type LandingKind,
} from '../../kit/vocabulary/values.ts';
import { curedRejects } from './reject-cure.ts';
import { maxMembers } from '../../kit/vocabulary/offer-bounds.ts';
import { clickSchema, conversionSchema, type LogField, type LogFieldType } from '../landing/logs/log-fields.ts';

/** A field of landing records, as the reference of fields shows it. Texts are Markdown. */
export interface FieldEntry {
  name: string;
  /** What the field says, and what its absence means. */
  meaning: string;
  /** Values that it takes. */
  form: string;
  required: boolean;
  /** Values that are read without a warning. */
  examples: readonly JsonExample[];
  /** Values that are not, each with the code of the reject or warning. */
  wrong: readonly (readonly [value: JsonExample, code: string])[];
  /** Codes of rejects that the field has. */
  rejects: readonly string[];
  /** A value that makes no sense becomes absent, with a warning; the row counts. */
  dropped: boolean;
}

export type JsonExample =
  string | number | boolean | null | readonly JsonExample[] | { readonly [key: string]: JsonExample };

/** Fields of records of each kind, in the order in which landing reads them. */
export function fieldReference(): Readonly<Record<LandingKind, FieldEntry[]>> {
  const reading = { wallClock: '' };
  return {
    offers: landingFieldNames.map((name) => offerEntry(name)),
    clicks: logEntries('clicks', clickSchema(reading).fields),
    conversions: logEntries('conversions', conversionSchema(reading).fields),
  };
}

/** Codes of all rejects that fields have, and of those that rows have. */
export function rejectReasons(): string[] {
  const ofFields = Object.values(fieldReference()).flatMap((fields) => fields.flatMap(({ rejects }) => rejects));
  return [...new Set([...ofFields, ...curedRejects])];
}

type Wrong = FieldEntry['wrong'];

const text = 'text';
const name = '1–256 characters; text or a whole number';
const time =
  'RFC 3339 with `Z` or an offset, also with a blank for the `T` or without seconds; seconds, milli-, micro- or nanoseconds since the epoch (10, 13, 16 or 19 digits). Without an offset where `offerline.json` names a zone for it';
const money =
  'decimal number from 0, below 1000000000, that 6 places hold exactly; number or text, also with an exponent';
const list = 'list, or `a|b|c`';
const times = ['2026-11-18T10:00:00Z', '2026-11-18 11:00:00+01:00', 1_763_460_000];
const wrongTimes = (field: string): Wrong => [
  ['18.11.2026 10:00', `bad_${field}`],
  ['2026-11-18T10:00:00', 'timestamp_without_offset'],
  ['2999-01-01T00:00:00Z', 'future_timestamp'],
];

function oneOf(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ');
}

/** Forms and examples of log fields by the type that reads them; `<name>` is the field's. */
const logTypes: Readonly<Record<LogFieldType, { form: string; examples: readonly JsonExample[]; wrong: Wrong }>> = {
  identifier: {
    form: '1–128 printable ASCII characters; text or a whole number',
    examples: ['c-1', 17],
    wrong: [
      [null, 'missing_<name>'],
      ['ü', 'bad_<name>'],
    ],
  },
  'offer number': {
    form: 'whole number from 1 to 2147483647',
    examples: [17, '17.0'],
    wrong: [
      [null, 'missing_offer'],
      ['game-7', 'bad_offer_id'],
    ],
  },
  name: {
    form: name,
    examples: ['game-7', 7],
    wrong: [
      [null, 'missing_<name>'],
      ['', 'bad_<name>'],
    ],
  },
  time: { form: time, examples: times, wrong: [[null, 'missing_<name>'], ...wrongTimes('<name>')] },
  country: { form: 'ISO 3166-1 alpha-2, any case', examples: ['DE', 'us'], wrong: [['Germany', 'bad_<name>']] },
  device: { form: `${oneOf(devices)}, any case`, examples: ['ios'], wrong: [['fridge', 'bad_<name>']] },
  'conversion kind': {
    form: oneOf(conversionKinds),
    examples: conversionKinds,
    wrong: [
      [null, 'missing_<name>'],
      ['approved', 'bad_<name>'],
    ],
  },
  payout: { form: money, examples: ['1.25', 1.25, '1.5e1'], wrong: [['1,25', 'bad_<name>']] },
  text: { form: text, examples: ['a text'], wrong: [] },
};

const ofOffer = 'the network’s own id of the offer, where `offer_id` is absent';
const logMeanings: Readonly<Record<EventKind, Readonly<Record<string, string>>>> = {
  clicks: {
    click_id: 'id of the click; the first one ingested counts, later ones are duplicates',
    offer_id: 'public id of the offer; else `source` and `external_id` name it',
    source: 'source of the offer: its folder in `landing/offers`',
    external_id: ofOffer,
    site_key: 'site that showed the offer, as in `sites.json`',
    user_id: 'the publisher’s id of the user',
    clicked_at: 'moment of the click',
    country: 'country of the user',
    device: 'device of the user',
    ip: 'address of the user',
    user_agent: 'the browser’s own name',
    sub1: 'the publisher’s own mark',
    sub2: 'the publisher’s own mark',
  },
  conversions: {
    conversion_id: 'id of the conversion; each kind of it counts once',
    click_id: 'id of our click, as our links passed it on',
    kind: 'what became of it: announced, granted, refused before it was, or taken back',
    occurred_at: 'moment of that',
    event_id: 'milestone of the offer; absent: the offer itself',
    payout: 'amount before the site’s commission, in USD; absent: that of the catalog',
    reason: 'why it was refused or taken back',
  },
};

function logEntries(kind: EventKind, fields: readonly LogField[]): FieldEntry[] {
  const meanings = logMeanings[kind];
  return fields.map((field) => {
    const { form, examples, wrong } = logTypes[field.type];
    const named = wrong.map(([value, code]) => [value, code.replace('<name>', field.name)] as const);
    const rejects = [...new Set(field.faults.map(({ reason }) => reason))];
    const isRequired = rejects.some((reason) => reason === `missing_${field.name}`);
    return {
      name: field.name,
      meaning: meanings[field.name] ?? '',
      form,
      required: isRequired,
      examples,
      // Only some fields of a type are required.
      wrong: named.filter(([value, code]) => value !== null || rejects.includes(code)),
      rejects,
      dropped: field.dropped !== undefined,
    };
  });
}

interface OfferEntry {
  meaning: string;
  form: string;
  examples: readonly JsonExample[];
  /** Codes of rejects; `bad_…` of others is a warning. */
  rejects?: readonly string[];
  wrong?: Wrong;
  required?: true;
}

const localized = 'text, or `{"en": "…", "de": "…"}`; in CSV that as JSON';
const choice = (values: readonly string[]) => `${oneOf(values)}; any case`;
const limit = 'whole number from 0; absent: no limit';
const milestone = { event_id: 'level-20', description: 'Reach level 20', payout: '4.25' };
const version = (field: string): OfferEntry => ({
  meaning: `oldest version of ${field === 'ios' ? 'iOS' : 'Android'} that it works with`,
  form: text,
  examples: ['9.0'],
});

const offerEntries: Readonly<Record<LandingFieldName, OfferEntry>> = {
  external_id: {
    meaning: 'the source’s own id of the offer',
    form: name,
    required: true,
    examples: ['game-7', 7],
    rejects: ['missing_external_id', 'bad_external_id'],
    wrong: [
      [null, 'missing_external_id'],
      [['game-7'], 'bad_external_id'],
    ],
  },
  id: {
    meaning: 'public id; absent: the next free one from 1000001. Another offer’s is rejected as `id_taken`',
    form: 'whole number from 1 to 2147483647',
    examples: [17],
    rejects: ['bad_id', 'id_taken'],
    wrong: [['game-7', 'bad_id']],
  },
  title: {
    meaning: 'title',
    form: localized,
    required: true,
    examples: ['Reach level 20', { en: 'Reach level 20', de: 'Erreiche Level 20' }],
    rejects: ['missing_title', 'bad_title'],
    wrong: [
      [null, 'missing_title'],
      [['Reach'], 'bad_title'],
    ],
  },
  description: { meaning: 'what users have to do', form: localized, examples: ['Install and play.'] },
  currency: {
    meaning: 'currency of all amounts; absent: USD',
    form: 'ISO 4217; others than USD need a rate in `rates` of `offerline.json`',
    examples: ['USD'],
    rejects: ['no_rate'],
    wrong: [['XTS', 'no_rate']],
  },
  events: {
    meaning: 'milestones; with any the offer is multireward, and without a `payout` it pays their sum',
    form: `list of at most ${maxMembers} \`{"event_id", "description", "payout"}\`; in CSV that as JSON`,
    examples: [[milestone]],
    rejects: [
      'bad_events',
      'missing_event_id',
      'bad_event_id',
      'duplicate_event_id',
      'missing_event_payout',
      'bad_event_payout',
    ],
    wrong: [
      ['level-20', 'bad_events'],
      [[{ ...milestone, event_id: null }], 'missing_event_id'],
      [[{ ...milestone, event_id: '' }], 'bad_event_id'],
      [[milestone, milestone], 'duplicate_event_id'],
      [[{ ...milestone, payout: null }], 'missing_event_payout'],
      [[{ ...milestone, payout: '4,25' }], 'bad_event_payout'],
    ],
  },
  status: {
    meaning: 'a paused offer is in no feed; absent: active',
    form: choice(offerStatuses),
    examples: offerStatuses,
    rejects: ['bad_status'],
    wrong: [['closed', 'bad_status']],
  },
  image: {
    meaning: 'picture; absent: none',
    form: 'address by http or https, without a user or a password',
    examples: ['https://cdn.network.example/7.png'],
    wrong: [
      ['ftp://cdn.network.example/7.png', 'bad_image'],
      ['7.png', 'bad_image'],
    ],
  },
  payout: {
    meaning: 'amount before the site’s commission; required unless there are `events`',
    form: money,
    examples: ['12.50', 12.5],
    rejects: ['missing_payout', 'bad_payout'],
    wrong: [
      [null, 'missing_payout'],
      ['12,50', 'bad_payout'],
    ],
  },
  level: { meaning: 'how hard it is', form: text, examples: ['easy'] },
  stars: { meaning: 'rating; absent: 0', form: 'whole number from 0 to 5', examples: [4], wrong: [[7, 'bad_stars']] },
  categories: { meaning: 'categories', form: list, examples: [['Games'], 'Games|Puzzle'] },
  countries: {
    meaning: 'countries in which it may be shown; absent: all',
    form: `${list}: ISO 3166-1 alpha-2, English names, \`UK\`, \`All\``,
    examples: [['DE', 'AT'], 'de|Austria', ['All']],
    rejects: ['bad_countries'],
    wrong: [[['Atlantis'], 'bad_countries']],
  },
  devices: {
    meaning: 'devices on which it works; absent: all',
    form: `${list}: ${oneOf(devices)}, and usual other words for them`,
    examples: [['android'], 'iPhone|iPad'],
    rejects: ['bad_devices'],
    wrong: [[['fridge'], 'bad_devices']],
  },
  payment_term: {
    meaning: 'when it is paid; absent: `net30`',
    form: choice(paymentTerms),
    examples: paymentTerms,
    wrong: [['net45', 'bad_payment_term']],
  },
  android_min_os: version('android'),
  ios_min_os: version('ios'),
  destination_url: {
    meaning: 'where the tracker sends users; never published. Without it clicks are refused',
    form: 'address with [macros](../src/tracker/advertisers.md)',
    examples: ['https://network.example/go?sub={click_id}'],
  },
  preview_url: {
    meaning: 'page of the app or shop',
    form: 'address by http, https, market or itms, without a user or a password',
    examples: ['https://apps.example/7'],
    wrong: [['apps.example/7', 'bad_preview_url']],
  },
  tracking_type: {
    meaning: 'what is paid for; absent: `CPA`',
    form: choice(trackingTypes),
    examples: trackingTypes,
    wrong: [['CPM', 'bad_tracking_type']],
  },
  report_category: {
    meaning: 'category in reports; absent: `web`',
    form: choice(reportCategories),
    examples: reportCategories,
    wrong: [['shop', 'bad_report_category']],
  },
  formats: {
    meaning: 'places in which it may be shown; absent: `offerwall`',
    form: `${list}: ${oneOf(formats)}; any case`,
    examples: [[...formats]],
    wrong: [[['popup'], 'bad_formats']],
  },
  daily_cap: { meaning: 'conversions a day, UTC', form: limit, examples: [500], wrong: [['many', 'bad_daily_cap']] },
  daily_click_cap: {
    meaning: 'clicks a day, UTC',
    form: limit,
    examples: [5000],
    wrong: [[-1, 'bad_daily_click_cap']],
  },
  multi_complete: {
    meaning: 'a user may complete it more than once; absent: no',
    form: '`true`, `false`; also `1`, `0`, `yes`, `no`',
    examples: [true, 'no'],
    wrong: [['often', 'bad_multi_complete']],
  },
  created_at: dated('created_at', 'when the source created it; absent: when it was first seen'),
  updated_at: dated('updated_at', 'when the source changed it last; feeds have the moment of our own last change'),
};

function dated(field: string, meaning: string): OfferEntry {
  const wrong = wrongTimes(field);
  return { meaning, form: time, examples: times, wrong, rejects: wrong.map(([, code]) => code) };
}

function offerEntry(field: LandingFieldName): FieldEntry {
  const { required = false, wrong = [], rejects = [], ...rest } = offerEntries[field];
  return { name: field, required, wrong, rejects, dropped: rejects.length === 0, ...rest };
}

/** A record of each kind with the required fields alone. */
export const leastRecords: Readonly<Record<LandingKind, Readonly<Record<string, JsonExample>>>> = {
  offers: { external_id: 'game-7', title: 'Reach level 20', payout: '12.50' },
  clicks: { click_id: 'c-1', offer_id: 17, site_key: 'rewardly', user_id: 'u-9', clicked_at: '2026-11-18T10:00:00Z' },
  conversions: { conversion_id: 'v-1', click_id: 'c-1', kind: 'credit', occurred_at: '2026-11-18T10:07:30Z' },
};
