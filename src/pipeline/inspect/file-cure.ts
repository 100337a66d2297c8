const whole =
  'it was cut off or damaged on its way: have the sender write it again, and land it whole under a new name';
const parts = 'land it in parts';
const newName = 'land the corrected file under a new name';

/** Cures by the code of a file that cannot be read. */
const cures: Readonly<Record<string, string>> = {
  missing_column:
    'name its columns as data/fields.md does, which the console has as /fields, or have `offerline inspect <file> --write` map those that it has; a file without a header row needs "header" in its mapping',
  bad_header: `a column has no name, two are one name to us, or its first row is no header: name each column once and ${newName}, or say by "format" of a mapping which row has the names, as in {"header": 3}, or all names in place of the rows up to it, as in {"skip": 1, "header": ["row", "click_id"]}`,
  no_row_fits: 'none of its rows can be read: `offerline inspect <file>` shows why, and proposes a mapping',
  bad_utf8:
    'its text is not UTF-8: name its encoding in a mapping, as in "format": {"encoding": "windows-1252"}; `offerline inspect <file>` proposes one',
  bad_encoding: 'its bytes are not of the encoding that its mapping names: put "encoding" of its mapping right',
  unknown_encoding: 'put "encoding" of its mapping right',
  line_too_long: `a record has more bytes than are read: have the sender write one record a line; ${newName}`,
  too_many_records: 'land its offers in parts as a delta source, or in the folders of several sources',
  document_too_large: `${parts}, as one record a line, or raise unpacked_gigabytes in offerline.json`,
  unpacked_too_large: `${parts}, or raise unpacked_gigabytes in offerline.json`,
  workbook_too_large: `${parts}, or as CSV`,
  broken_csv: `a quoted text has no end, or something follows it: have the sender quote it right; ${newName}`,
  broken_json: whole,
  broken_xlsx: whole,
  broken_xml: `it is no valid XML: it was cut off on its way, a tag is not closed, or a text has a bare "&" or an entity of HTML such as "&nbsp;": have the sender write "&amp;" and "&#160;", and all of it; ${newName}`,
  broken_zip: whole,
  broken_gzip: whole,
  broken_zstd: whole,
  broken_bzip2: whole,
  comma_behind_record: `have the sender write a list in brackets, or a record a line without commas between; ${newName}`,
  encrypted_zip: `land it without a password; ${newName}`,
  no_records: 'say by "records" of its mapping where the records are',
  no_single_array: 'it has several lists, or none: say by "records" of its mapping which list counts',
  no_such_sheet: 'put "sheet" of its mapping right',
  not_one_member: `pack one file at a time; ${newName}`,
  not_parquet: whole,
  not_xlsx: `save it as .xlsx or CSV; ${newName}`,
  old_workbook: `save it as .xlsx or CSV; ${newName}`,
  packed_parquet: `land Parquet as it is, it is packed by itself; ${newName}`,
  packed_twice: `pack it once; ${newName}`,
  ended_a_run: 'reading it ended a run by force, out of memory perhaps: land it in smaller parts',
  unreadable: 'let the user of offerline read it, as by chmod; the next run takes it up',
};

/** Codes of files that cannot be read, which have a cure. */
export const fileProblems = Object.keys(cures);

/**
 * Returns what an operator can do about a file that is quarantined, as half a sentence.
 *
 * @param reason A code, with or without the detail behind a colon: `missing_column: there is no column click_id`.
 */
export function fileCure(reason: string): string {
  const [code = ''] = reason.split(':', 1);
  return (Object.hasOwn(cures, code) ? cures[code] : undefined) ?? `correct it, and ${newName}`;
}
