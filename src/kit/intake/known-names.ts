import type { LandingKind } from '../vocabulary/values.ts';
import { plainName } from './reading/header-names.ts';

/*
 * What fields of ours are called in exports that people have, each name with where it was seen in public documentation
 * or public code. It is for proposing a mapping to a person, never for reading a file: `sub1` is a click in one network
 * and a placement in the next.
 */

/** Where each name of a field was seen, by the name as it is written there. The likelier name is first. */
type NamesOfField = Readonly<Record<string, string>>;

const device = {
  os: 'Keitaro API conversions/log, RedTrack API, Mediumin and Youmi APIs',
  'Operating system': 'Voluum reports, TUNE offer page',
  os_name: 'Binom clicklog, Adjust placeholders, AppMetrica Logs API clicks',
  platform: 'AppsFlyer raw data, Everflow conversions',
  platform_name: 'Everflow clicks, device_information',
} as const;

const country = {
  country_code: 'Keitaro API, AppsFlyer raw data, Everflow clicks, Voluum reports (Country code)',
  country_iso_code: 'AppMetrica Logs API clicks',
  country: 'Binom clicklog, RedTrack API, Everflow conversions, Adjust placeholders',
  geo: 'Binom API conversions',
} as const;

const offer = {
  network_offer_id: 'Everflow API',
  offer_id: 'TUNE click logs, Keitaro API, Affise API, Binom clicklog and Voluum reports (Offer ID)',
} as const;

const sub = (number: 1 | 2): NamesOfField => ({
  [`sub${number}`]: 'Everflow API, Affise API, RedTrack API',
  [`aff_sub${number === 1 ? '' : number}`]: 'TUNE tracking links, Wannads API',
  [`affiliate_sub${number}`]: 'TUNE click logs',
  [`affiliate_info${number}`]: 'TUNE API, ConversionReport',
  [`Partner Sub ID ${number}`]: 'TUNE conversion report',
  [`sub_id_${number}`]: 'Keitaro API, Adscend API (subid1)',
  [`Sub Param ${number}`]: 'AppsFlyer raw data',
  [`af_sub${number}`]: 'AppsFlyer raw data as Hive names it',
  [`Custom variable ${number}`]: 'Voluum API (customVariable1)',
  [`V${number}`]: 'Voluum conversions report',
  [`Token ${number}`]: 'Binom clicklog',
  [`s${number}`]: 'AdGate reporting API',
});

const clicks: Record<string, NamesOfField> = {
  click_id: {
    click_id: 'Voluum reports and Binom clicklog (Click ID), AppMetrica Logs API, RedTrack API (clickid)',
    transaction_id: 'TUNE click logs, Everflow clicks',
    sub_id: 'Keitaro API clicks/log',
  },
  // Not `offer_id`, which is ours alone: the offers of others are external ones.
  external_id: offer,
  site_key: {
    affiliate_source: 'TUNE click logs',
    source_id: 'Everflow clicks',
    'Site ID': 'AppsFlyer raw data',
    af_siteid: 'AppsFlyer raw data as Hive names it',
    publisher_id: 'AppMetrica Logs API clicks',
    affiliate_id: 'TUNE click logs',
    affiliate: 'ConverStream, CSV export of clicks',
    publisher: '24metrics Integr8, parameters of clicks',
  },
  user_id: {
    user_id: 'Adjust callbacks ([user_id]), Wannads API (userId)',
    'Customer User ID': 'AppsFlyer raw data',
    external_identifier: 'ayeT static API',
    ...sub(1),
  },
  clicked_at: {
    click_datetime: 'Keitaro API conversions/log, AppMetrica Logs API clicks',
    click_time: 'Binom API clicklog, Adjust placeholders, easy, transactions export (clicktime)',
    'Time Click': 'Binom clicklog and conversions',
    'Visit timestamp': 'Voluum conversions report',
    'Attributed Touch Time': 'AppsFlyer raw data',
    track_time: 'RedTrack API',
    click_unix_timestamp: 'Everflow conversions',
    click_timestamp: 'AppMetrica Logs API clicks',
    unix_timestamp: 'Everflow clicks',
    datetime: 'TUNE click logs, Keitaro API clicks/log',
    time_local: 'variable of nginx, ngx_http_log_module',
    time_iso8601: 'variable of nginx, ngx_http_log_module',
    msec: 'variable of nginx, ngx_http_log_module',
    timestamp: 'Everflow help, Events and Attribution',
    created_at: 'RedTrack API',
  },
  country,
  device,
  ip: {
    ip: 'Binom clicklog, AppsFlyer raw data, RedTrack API',
    user_ip: 'Everflow clicks',
    session_user_ip: 'Everflow conversions',
    'Visitor IP': 'Voluum conversions report',
    ip_address: 'Adjust placeholders',
    click_ipv6: 'AppMetrica Logs API clicks',
    remote_addr: 'variable of nginx',
  },
  user_agent: {
    user_agent: 'Binom clicklog, AppsFlyer raw data, RedTrack API, Adjust placeholders',
    http_user_agent: 'Everflow API, variable of nginx',
    click_user_agent: 'AppMetrica Logs API clicks',
  },
  sub1: sub(1),
  sub2: sub(2),
};

const conversions: Record<string, NamesOfField> = {
  conversion_id: {
    conversion_id: 'Everflow API, Keitaro API, Ingenious conversions export',
    tune_event_id: 'TUNE conversion report',
    internal_conversion_id: 'Ingenious conversions export',
    action_id: 'Affise API, id given by the advertiser',
    'Transaction ID': 'Voluum conversions report, id given by the advertiser',
    tid: 'Keitaro postbacks, id given by the advertiser',
    order_id: 'Everflow conversions',
    criterion: 'easy, transactions export',
    'AppsFlyer ID': 'AppsFlyer raw data, of installs',
    adid: 'Adjust placeholders, of installs',
    id: 'Affise API, RedTrack API',
  },
  // A sub id that our links carry comes before the network's own click.
  click_id: {
    click_id: 'Ingenious conversions export, Binom and Voluum reports (Click ID), RedTrack API (clickid)',
    'External ID': 'Voluum conversions report, Binom clicklog: the click of who sent the visit',
    ref_id: 'RedTrack API: the click of who sent the visit',
    click_subid: 'Ingenious conversions export',
    subid: 'easy, transactions export; QualityClick CSV (SubID); Keitaro API (sub_id), where it is the tracker’s own',
    ...sub(1),
    transaction_id: 'TUNE conversion report, Everflow conversions',
    ad_id: 'TUNE API, Conversion',
  },
  kind: { activity_kind: 'Adjust placeholders' },
  status: {
    conversion_status: 'TUNE API, ConversionReport; Ingenious conversions export',
    status: 'Everflow, Affise, Keitaro, RedTrack APIs, TUNE conversion report, easy',
    'Conversion Status 1': 'Binom clicklog',
    cnv_status: 'Binom help, Payout tracking',
    status_state: 'callbacks of Swaarm',
  },
  occurred_at: {
    conversion_unix_timestamp: 'Everflow conversions',
    'Conversion Time': 'Binom conversions',
    conversed_at: 'Binom API conversions',
    conv_time: 'RedTrack API conversions',
    sale_datetime: 'Keitaro API conversions/log',
    postback_datetime: 'Keitaro API conversions/log',
    'Postback timestamp': 'Voluum conversions report',
    converion_tracking_time: 'Ingenious conversions export, spelled so',
    trackingtime: 'easy, transactions export',
    'Event Time': 'AppsFlyer raw data',
    'Install Time': 'AppsFlyer raw data',
    'Date / Time': 'TUNE conversion report',
    datetime: 'TUNE API, ConversionReport',
    created_at: 'Affise API, Adjust placeholders',
    date: 'QualityClick CSV',
  },
  changed_at: {
    updated_at: 'Affise API conversions',
    processingdate: 'easy, transactions export: when it was validated',
    postback_datetime: 'Keitaro API conversions/log: of the latest postback',
  },
  event_id: {
    event_name: 'Adjust placeholders, AppsFlyer raw data (Event Name), Everflow advertiser API',
    event: 'Everflow conversions, RedTrack API',
    goal: 'Affise API',
    goal_name: 'TUNE API (Goal.name)',
    'Conversion type': 'Voluum conversions report',
    trigger_title: 'easy, transactions export',
    type: 'RedTrack API conversions',
  },
  payout: {
    payout: 'TUNE conversion report, Everflow, Binom and RedTrack conversions',
    payouts: 'Affise API conversions',
    approved_payout: 'TUNE API, ConversionReport',
    commission: 'QualityClick CSV, Affilicon',
    provision: 'easy, transactions export, German for commission',
    'Cost Value': 'AppsFlyer raw data: what the advertiser pays',
    'Event Revenue USD': 'AppsFlyer raw data',
    revenue: 'Keitaro API, Voluum conversions report, Adjust placeholders',
  },
  currency: {
    currency: 'Affise API, RedTrack API, Adjust placeholders',
    currency_id: 'Everflow API',
    'Cost Currency': 'AppsFlyer raw data',
    'Event Revenue Currency': 'AppsFlyer raw data',
  },
  reason: {
    decline_reason: 'Affise API conversions',
    rejection_reason: 'Adjust placeholders',
    reason_of_cancellation: 'easy, transactions export',
    'Cancellation Reason': 'QualityClick CSV',
    'Status Message': 'TUNE conversion report',
    error_message: 'Everflow conversions',
    original_status: 'Keitaro API conversions/log',
  },
};

const offers: Record<string, NamesOfField> = {
  external_id: {
    ...offer,
    "# 1. Offer's ID": 'Voluum, CSV of offers',
    id: 'TUNE, Affise, ayeT, Youmi and Mediumin APIs',
  },
  title: {
    title: 'Affise API',
    offer_name: 'Mediumin API',
    "2. Offer's name": 'Voluum, CSV of offers',
    name: 'TUNE, CSV of offers; Everflow, ayeT and Youmi APIs',
  },
  description: {
    description: 'TUNE, CSV of offers',
    'description_lang.en': 'Affise API',
    offer_desc: 'Mediumin API',
    conversion_flow: 'Youmi API',
    conversion_instructions_long: 'ayeT static API (i18n)',
  },
  payout: {
    payout: 'Youmi API, offers of Mobrand',
    default_payout: 'TUNE API, Offer',
    payout_amount: 'Everflow, export of offers',
    payout_usd: 'ayeT static API',
    offer_price: 'Mediumin API',
    '6. Payout': 'Voluum, CSV of offers',
  },
  currency: { currency: 'TUNE API, Offer', currency_id: 'Everflow, export of offers' },
  image: { icon: 'ayeT, Youmi and Mediumin APIs', logo: 'Affise API', thumbnail: 'TUNE API (Thumbnail)' },
  countries: {
    countries: 'Affise, ayeT and Youmi APIs',
    'country.allow': 'Affise API, targeting',
    regions: 'Mediumin API',
    '4. Country code': 'Voluum, CSV of offers',
    ...country,
  },
  devices: { platforms: 'ayeT static API', ...device, devices: 'Affise API, payments' },
  categories: {
    categories: 'Affise API, ayeT static API (tags)',
    category: 'Everflow, export of offers; TUNE offer page',
    app_category: 'Mediumin API',
    vertical: 'TUNE offer page',
    '7. Tags': 'Voluum, CSV of offers',
  },
  destination_url: {
    tracking_link: 'ayeT, Youmi and Mediumin APIs',
    link: 'Affise API',
    offer_url: 'TUNE, CSV of offers',
    destination_url: 'Everflow, export of offers',
    offerLink: 'Mobrand bulk API',
    "3. Offer's URL": 'Voluum, CSV of offers',
  },
  preview_url: {
    preview_url: 'TUNE, CSV of offers; Everflow, Affise, Youmi and Mediumin APIs',
    landing_page: 'ayeT static API',
  },
  tracking_type: {
    payout_type: 'TUNE API, Everflow and Youmi',
    pricing_model: 'Mediumin API',
    conversion_type: 'ayeT',
  },
  daily_cap: {
    daily_cap: 'Mediumin API, ayeT static API',
    daily_conversion_cap: 'Everflow, export of offers',
    '9. Daily cap': 'Voluum, CSV of offers',
    conversion_cap: 'TUNE API, Offer',
  },
  daily_click_cap: { daily_click_cap: 'Everflow, export of offers' },
  status: { offer_status: 'Everflow, export of offers', status: 'TUNE, CSV of offers; Affise API' },
  created_at: { time_created: 'Everflow API', created_at: 'RedTrack API' },
  updated_at: { time_saved: 'Everflow API', updated_at: 'RedTrack API' },
};

/** Names by the kind of records and by field of ours. */
export const knownNames: Readonly<Record<LandingKind, Readonly<Record<string, NamesOfField>>>> = {
  offers,
  clicks,
  conversions,
};

/** A place of a record that a field of ours may stand in. */
export interface KnownPlace {
  place: string;
  /** The export that has this name, and where that is public. */
  seen: string;
}

/** Returns a name without what exports write differently, and without braces or brackets around it. */
export function bareName(name: string): string {
  return plainName(name.trim().replace(/^\{(.*)\}$|^\[(.*)\]$/s, '$1$2'));
}

/**
 * Returns for each field of ours the places of a record whose name is known for it, the likeliest first: one with our
 * own name, then in the order of the table. A place with dots is known by the whole of it, else by its last key. A
 * place may be known for several fields, so a proposal shows the others.
 */
export function knownPlaces(kind: LandingKind, places: readonly string[]): Map<string, KnownPlace[]> {
  const found = Object.entries(knownNames[kind]).map(([field, names]): [string, KnownPlace[]] => {
    const known = Object.entries({ [field]: 'our own name', ...names });
    return [field, known.flatMap(([name, seen]) => placesNamed(name, places).map((place) => ({ place, seen })))];
  });
  return new Map(
    found
      .map(([field, known]): [string, KnownPlace[]] => [field, distinct(known)])
      .filter(([, known]) => known.length > 0),
  );
}

/** Returns the places that have a name as a whole, then those of which it is the last key. */
function placesNamed(name: string, places: readonly string[]): string[] {
  const plain = bareName(name);
  const whole = places.filter((place) => bareName(place) === plain);
  return [...whole, ...places.filter((place) => place.includes('.') && bareName(lastKey(place)) === plain)];
}

function lastKey(place: string): string {
  return place.slice(place.lastIndexOf('.') + 1);
}

function distinct(known: readonly KnownPlace[]): KnownPlace[] {
  return known.filter(({ place }, index) => known.findIndex((other) => other.place === place) === index);
}
