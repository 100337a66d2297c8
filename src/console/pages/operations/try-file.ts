import { landingKinds } from '../../../kit/vocabulary/values.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import type { QueryRow } from '../../../kit/duckdb/dialect/rows.ts';
import type { Inspection, SeenPlace } from '../../../pipeline/inspect/inspection.ts';
import { missingCure } from '../../../pipeline/inspect/reject-cure.ts';
import { Address } from '../../html/address.ts';
import { html, nothing, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, shownNumber, numberValue } from '../../html/values.ts';
import { delimiters, maxUnpackedMegabytes, noChoices } from '../../inspections/inspections.ts';
import type { InspectedUpload, InspectionChoices } from '../../inspections/inspections.ts';
import { maxUploadBytes } from '../../inspections/uploads.ts';
import type { BarePage } from '../../page/page.ts';

type RejectRow = Inspection['rejects'][number];

export const tryFilePage: BarePage = {
  path: '/try-file',
  navigation: 'Try a file',
  title: 'Try a file',
  body: ({ user }) => html`${heading}${form(user, noChoices)}`,
};

const address = new Address(tryFilePage.path);
/** Places of a record that are shown; the command's --json has all. */
const maxPlaces = 100;

const heading = html`<h1>Try a file</h1>
  <p class="question">
    What is this export, how would its columns become offers, clicks or conversions, and which of its rows would be
    rejected? Nothing is loaded, and the file is removed when the answer is there.
  </p>`;

const placeColumns: readonly Column<SeenPlace>[] = [
  { name: 'place', title: 'Column', show: ({ place }) => html`<code>${visibleText(place)}</code>` },
  {
    name: 'filled',
    title: 'Filled',
    kind: 'number',
    show: ({ filled }) => html`<data value="${filled}">${Math.floor(filled * 100)} %</data>`,
  },
  { name: 'examples', title: 'Examples', show: ({ examples }) => html`${visibleText(examples.join(' | '))}` },
];

const rejectColumns: readonly Column<RejectRow>[] = [
  { name: 'reason', title: 'Reason' },
  { name: 'rows', title: 'Rows', kind: 'number' },
  { name: 'line', title: 'First row', kind: 'number' },
  { name: 'cure', title: 'What helps' },
  { name: 'raw', title: 'The first', show: ({ raw }) => html`<code>${visibleText(raw)}</code>` },
];

/** The page with what was found in a file, and the form with the choices by which it was read. */
export function inspectedBody(user: { role: string }, { name, choices, inspection }: InspectedUpload): Html {
  const { problem, kind, doubts, missing, seen } = inspection;
  return html`${heading}
    ${facts([
      ['File', visibleText(name)],
      ['Format', inspection.format],
      ['Bytes', numberValue(inspection.bytes)],
      ['Records', numberValue(inspection.records)],
      ['Read as', kind ?? 'not known: choose below what its records are'],
    ])}
    ${problem !== null && problemText(problem)}
    ${list(
      'Missing',
      'Landing rejects every record without these',
      missing.map((field) => `${field}: ${missingCure(field)}`),
    )}
    ${list('Look at this', 'What the file does not say, or says in two ways', doubts)}
    ${mappingText(inspection)}
    ${list(
      'Why these columns',
      'Where each name was seen before',
      Object.entries(seen).map(([field, where]) => `${field} is ${where}`),
    )}
    ${triedText(inspection)}${placesText(inspection)}
    <h2>Try again</h2>
    ${form(user, choices)}`;
}

function form({ role }: { role: string }, choices: InspectionChoices): Html {
  if (role !== 'operator')
    return html`<p>
      Viewers send no files: ask an operator, or run <code>offerline inspect FILE</code> on a machine with offerline.
    </p>`;
  const { as, delimiter, encoding, header, sheet, records } = choices;
  const text = (name: string, title: string, value: string, hint: string) =>
    html`<label>${title} <input name="${name}" value="${value}" maxlength="200" placeholder="${hint}" /></label> `;
  const open = Object.entries(choices).some(([name, value]) => name !== 'as' && value !== '');
  return html`<form method="post" action="${tryFilePage.path}" enctype="multipart/form-data">
    <div class="filters">
      <label>File <input type="file" name="file" required data-max-bytes="${maxUploadBytes}" /></label>
      <label>Its records are ${choice('as', as, 'recognized by their columns', landingKinds)}</label>
      <button class="main">Try it</button>
    </div>
    <details${open && html` open`}>
      <summary>What a file does not say itself</summary>
      <div class="filters">
        <label>Between cells ${choice('delimiter', delimiter, 'as its header shows', Object.keys(delimiters))}</label>
        ${text('encoding', 'Encoding', encoding, 'windows-1252')} ${text('header', 'Row of the header', header, '1')}
        ${text('sheet', 'Sheet', sheet, 'the first')} ${text('records', 'Place of the records', records, 'data.items')}
      </div>
    </details>
    <p class="empty">
      At most ${maxUploadBytes / 1e6} MB. On the machine of offerline <code>offerline inspect FILE</code> shows the same
      of a file of any size.
    </p>
  </form>`;
}

function choice(name: string, chosen: string, none: string, choices: readonly string[]): Html {
  return html`<select name="${name}">
    <option value="">${none}</option>
    ${choices.map((each) => html`<option${each === chosen && html` selected`}>${each}</option>`)}
  </select>`;
}

function problemText({ reason, detail }: NonNullable<Inspection['problem']>): Html {
  const isLarge = reason === 'unpacked_too_large' || reason === 'document_too_large';
  return html`<p class="error" role="alert">
    It cannot be read as it is: <strong>${reason}</strong>:
    ${
      isLarge
        ? html`this page reads at most ${maxUnpackedMegabytes} MB of what a file holds. On the machine of offerline
            <code>offerline inspect FILE</code> reads as much as landing does, up to <code>unpacked_gigabytes</code> of
            offerline.json.`
        : visibleText(detail)
    }
  </p>`;
}

function list(title: string, note: string, items: readonly string[]): Html {
  if (items.length === 0) return nothing;
  return html`<h2>${title}</h2>
    <p class="empty">${note}</p>
    <ul>
      ${items.map((item) => html`<li>${visibleText(item)}</li>`)}
    </ul>`;
}

function mappingText({ mapping_is, written }: Inspection): Html {
  if (mapping_is === 'none')
    return html`<h2>No mapping is needed</h2>
      <p>Its records are in our own fields: put it into <code>landing</code>, and a refresh reads it.</p>`;
  if (written === null) return nothing;
  const json = JSON.stringify(written, null, 2).split('\n').map(visibleText).join('\n');
  return html`<h2>A mapping for it</h2>
    <p>
      Copy it into the list <code>files</code> of offerline.json, with the folder of the file in place of
      <code>NAME</code>, put right what is missing or in doubt, and put the file into that folder of
      <code>landing</code>. Then <code>offerline inspect FILE</code> tries the mapping as it is written there, and a
      refresh loads the file.
    </p>
    <pre class="sql" tabindex="0"><code>${json}</code></pre>`;
}

function triedText({ tried, passed_over, rejects, rows }: Inspection): Html {
  if (tried === 0 && passed_over === 0) return nothing;
  const rejected = rejects.reduce((sum, { rows: count }) => sum + count, 0);
  const passed = passed_over > 0 && html` The mapping passes ${shownNumber(passed_over)} of all over.`;
  return html`<h2>What would become of it</h2>
    <p>
      Of the first ${shownNumber(tried)} ${tried === 1 ? 'record' : 'records'} ${shownNumber(rejected)} would be
      rejected.${passed}
    </p>
    ${
      rejects.length > 0 &&
      dataTable<RejectRow>({
        name: 'rejects',
        caption: 'Reasons of rejected rows',
        columns: rejectColumns,
        rows: rejects,
        empty: '',
      }).markup(address)
    }
    ${firstRows(rows as QueryRow[])}`;
}

/** Fields of ours that some of the rows have. */
function firstRows(rows: readonly QueryRow[]): Html {
  const hasValue = (value: unknown) => value !== null && value !== '' && JSON.stringify(value) !== '[]';
  const shown = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => hasValue(value))));
  const names = [...new Set(shown.flatMap((row) => Object.keys(row)))];
  return dataTable<QueryRow>({
    name: 'rows',
    caption: 'The first rows as they would be',
    columns: names.map((name) => ({ name, title: name, whyNone: 'absent' })),
    rows: shown.map((row) => Object.fromEntries(names.map((name) => [name, visibleValue(row[name] ?? null)]))),
    empty: 'No row would be accepted.',
  }).markup(address);
}

function visibleValue(value: QueryRow[string]): QueryRow[string] {
  if (value === null || typeof value === 'number') return value;
  return visibleText(typeof value === 'string' ? value : JSON.stringify(value));
}

function placesText({ places }: Inspection): Html {
  if (places.length === 0) return nothing;
  return dataTable<SeenPlace>({
    name: 'columns',
    caption: `Columns of the file${places.length > maxPlaces ? `, the first ${maxPlaces} of ${places.length}` : ''}`,
    columns: placeColumns,
    rows: places.slice(0, maxPlaces),
    empty: '',
  }).markup(address);
}
