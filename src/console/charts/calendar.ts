import { addDays, type Day } from '../../kit/time/moment.ts';
import { html, type Html } from '../../kit/html/html.ts';

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/**
 * Days in weeks from Monday on, newest week first. Days outside of `known` show their number only.
 */
export function calendar(known: ReadonlyMap<Day, Html>): Html {
  const days = [...known.keys()].toSorted();
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined) return html`<p class="empty">There is no data of these days.</p>`;
  const weeks: Day[] = [];
  for (let monday = mondayOf(last); monday >= mondayOf(first); monday = addDays(monday, -7)) weeks.push(monday);
  return html`<div class="scrolled" tabindex="0" role="region" aria-label="Calendar">
    <table class="calendar">
      <thead>
        <tr>
          <th scope="col">Week of</th>
          ${weekdays.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${weeks.map(
          (monday) =>
            html`<tr>
              <th scope="row">${monday}</th>
              ${weekdays.map((_name, index) => cell(addDays(monday, index), known))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

function cell(day: Day, known: ReadonlyMap<Day, Html>): Html {
  return html`<td><span class="quiet">${Number(day.slice(8))}</span> ${known.get(day)}</td> `;
}

function mondayOf(day: Day): Day {
  return addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
}
