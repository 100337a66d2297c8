import { rejectCure } from '../../src/pipeline/inspect/reject-cure.ts';

/** What is otherwise with a network's records than with files; `{source}` is the source's name. */
const pulledCures: Readonly<Record<string, string>> = {
  forbids_incentives: 'its own texts forbid incentives; "keep": ["non_incentive"] in sources.json keeps such offers',
  passed_over: '"rows" of the declaration, or a word of "words", passes it over',
  not_json_object: 'the record is no object with fields: look at "records", the place of the list',
  missing_external_id: 'no id: look at the place of "external_id"',
  missing_title: 'no title: look at the place of "title", or ask the network for one',
  missing_payout: 'no fixed amount for a conversion, such as a share of sales: such offers stay out',
  timestamp_without_offset:
    'a time has no offset: "time_zone" of "{source}" in "sources" of offerline.json says its zone',
  correction: 'it corrects another one, to whose amount it is added',
  corrects_unlisted: 'what it corrects is not listed: "reversal_days" has to reach back to it',
  no_click: 'it carries no click id of ours, so that nobody can be credited: our links must hand it over',
  secret_in_id: 'its id contains a secret of {source}, without which two ids could be one: ask the network for others',
  unreadable: 'it has no id, or no time or status that is known',
  unknown_status: 'the status is no word that is known: "words" of a declared field translates it',
  bad_time: 'its time cannot be read: "time" of a declared field says how it is written',
  time_without_zone: 'its time has no zone: "time_zone" of {source} in sources.json says which',
};

/** Returns what to do about a record that is rejected or left out, as half a sentence. */
export function pulledCure(reason: string, source: string): string {
  const own = Object.hasOwn(pulledCures, reason) ? pulledCures[reason] : undefined;
  return own?.replace('{source}', source) ?? rejectCure(reason);
}

const warnings: Readonly<Record<string, string>> = {
  no_fixed_payout: 'it pays a share, or for clicks or views',
  several_default_payouts: 'several payouts are the default, so that none is taken',
  share_not_counted: 'it pays a share beside the fixed amount, which alone counts',
  payout_differs_by_target: 'the payout differs by country or system: the lowest counts',
  denied_country_unknown: 'a denied country is not understood: the offer is shown there',
  denied_device_unknown: 'a denied device is not understood: the offer is shown on it',
  country_unknown: 'a country is not understood: the offer is not shown there',
  device_unknown: 'a device is not understood: the offer is not shown on it',
  region_rules: 'it is for regions, cities or the like only: it is shown in their whole countries',
  os_versions: 'it is for some versions of a system only: it is shown on all of them',
  other_rules: 'it is for some carriers, connections, languages, browsers or the like only: it is shown on all of them',
  secret_removed: 'the network repeats a secret of the source in its texts: it is replaced there by •••',
  unknown_field: 'nothing of ours has this name, so that it is not kept',
};

/** Returns what a warning means, whose field may be behind it; null where its name says all. */
export function warningMeaning(warning: string): string | null {
  const [code = '', field] = warning.split(' ');
  if (Object.hasOwn(warnings, code)) return warnings[code] ?? null;
  return code.startsWith('bad_') ? `a value of ${field ?? code.slice('bad_'.length)} is dropped` : null;
}
