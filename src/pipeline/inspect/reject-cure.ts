import { maxMembers } from '../../kit/vocabulary/offer-bounds.ts';
const otherWords = '"words" says what each of its words means';
const ownPattern =
  'write it like 2026-11-24T01:01:10Z, or have a mapping read it by its pattern, as in "time": "%d.%m.%Y %H:%M:%S"';
const amount =
  '"number" says what is its decimal point, what separates thousands, which signs to strip, whether to "round" or to "drop" a minus';

/** Cures by the code of a reject. */
const cures: Readonly<Record<string, string>> = {
  not_json_object:
    'the line is no JSON object, or one nested more than 1,000 deep: the sender has to write one record a line',
  duplicate_key: 'the record names a field twice: the sender has to write it once',
  timestamp_without_offset:
    'name the zone of its times, as in "zone": "Europe/Berlin", or for all files as time_zone of the log or source in offerline.json',
  future_timestamp:
    'the time is more than 24 hours ahead of the clock: look whether "time" has day and month in the right order, and at "zone"',
  bad_payout: amount,
  bad_event_payout: amount,
  no_rate:
    'its currency has no rate: add one to "rates" in offerline.json; where it is no code such as EUR, "words" says which one is meant, {"€": "EUR"}',
  no_column:
    'the file lacks a column that its mapping reads to know which rows count or what they pay: put the mapping right',
  missing_offer:
    'map the network\'s own id as external_id and name its source, {"value": "its folder in landing/offers"}; or map offer_id',
  bad_offer_id:
    "offer_id is a whole number from 1 to 2147483647: map the network's own id as external_id, and name its source",
  bad_kind: `it is none of pending, credit, reject and chargeback: ${otherWords}, and null passes a row over`,
  missing_kind:
    'map kind, {"value": "credit"} where all rows are credits, or status where rows say how conversions stand',
  missing_source:
    'external_id is an id of a source: map source, {"value": "its folder in landing/offers"} where all rows are of one',
  missing_site_key: 'map site_key, or {"value": "the key of the site"} where all rows are of one',
  missing_click_id:
    'map click_id to the column that has the id of our click, as our links passed it on; rows that are none, such as totals, "rows" passes over',
  missing_payout: 'map payout, or events where milestones are what is paid',
  bad_status: `it is neither active nor paused: ${otherWords}`,
  bad_countries: `none of its countries is known by code or name: ${otherWords}, "All" for all, and "split" what separates them`,
  bad_devices: `none of its devices is known: ${otherWords}, "all" for all, and "split" what separates them`,
  bad_events: `milestones are a list of at most ${maxMembers} objects: "each" names its place`,
  missing_event_id: '"event_id" of "events" names the place of each milestone\'s id',
  missing_event_payout: '"payout" of "events" names the place of each milestone\'s payout',
  duplicate_event_id: 'two milestones have one id: map a place that differs as "event_id"',
  wrong_cell_count:
    'the row has other cells than the header: the sender has to quote texts that have separators in them, and to write empty cells at the end of a row, too',
  bad_id: 'id is a whole number from 1 to 2147483647: leave it out, and the next free one is given',
  id_taken: 'another offer has this public id: leave it out, and the next free one is given',
  unterminated_row: 'the last line has no end and may be cut off: the sender has to write the file to its end',
  bad_clicked_at: ownPattern,
  bad_occurred_at: ownPattern,
  bad_changed_at: `${ownPattern}; "none" names texts that stand for no time`,
  bad_created_at: ownPattern,
  bad_updated_at: ownPattern,
};

/** Codes of rejects that have a cure of their own. */
export const curedRejects = Object.keys(cures);

/** Returns what an operator can do about rows that landing rejects for a reason, as half a sentence. */
export function rejectCure(reason: string): string {
  const known = Object.hasOwn(cures, reason) ? cures[reason] : undefined;
  if (known !== undefined) return known;
  const [, fault, field = ''] = /^(missing|bad)_(.+)$/.exec(reason) ?? [];
  if (fault === 'missing')
    return `map ${field} to a column that has a value in every row; rows that are none, such as totals, "rows" passes over`;
  if (fault === 'bad')
    return `${field} is no value of ours: map another column to it; rows that are none, such as totals, "rows" passes over`;
  return 'the row is not as landing reads it: the sender has to correct it';
}

/**
 * Returns what an operator can do where no column looks like a required field, as half a sentence.
 *
 * @param choice Names of fields of which one is required: `kind or status`.
 */
export function missingCure(choice: string): string {
  const [field = ''] = choice.split(' or ');
  return rejectCure(field === 'offer_id' ? 'missing_offer' : `missing_${field}`);
}
