import type { Address } from './address.ts';
import { html, nothing, type Html } from '../../kit/html/html.ts';
import { looseMoment } from '../../kit/time/moment.ts';

/** A filter of a page. */
export interface Filter {
  /** The parameter of the address. */
  name: string;
  title: string;
  /** The values to choose from. Default: any text. */
  choices?: readonly string[];
  /** `moment`: a time of UTC to the minute. */
  kind?: 'text' | 'date' | 'moment';
  /** An example of what may be typed. */
  example?: string;
}

/** More choices than this are typed: nobody reads such a list. */
const maxChoices = 300;
/** Parameters that choose a part or an order of the same rows. */
const notFilters = new Set(['csv', 'from_row', 'sort', 'snapshot', 'by', 'from', 'to']);

/** A form that leads to the same page with other parameters. */
export function filterForm(address: Address, filters: readonly Filter[]): Html {
  const kept = [...address.parameters].filter(
    ([name]) => !['csv', 'from_row'].includes(name) && !filters.some((filter) => filter.name === name),
  );
  return html`<form class="filters" method="get" action="${address.path}">
    ${filters.map((filter) => html`<label>${filter.title} ${control(filter, address.get(filter.name) ?? '')}</label> `)}
    ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="main">Show</button> ${clearLink(address)}
  </form>`;
}

/** A link to the page without its filters, where the address has one. */
export function clearLink(address: Address): Html {
  const filters = [...address.parameters].filter(([name]) => !notFilters.has(name));
  if (filters.length === 0) return nothing;
  const without = address.with({
    ...Object.fromEntries(filters.map(([name]) => [name, undefined])),
    from_row: undefined,
  });
  return html`<a class="clear" href="${without.href}">Clear filter</a>`;
}

/** A choice that is one click. */
export interface Preset {
  title: string;
  /** Parameters that it sets; undefined ones are removed. */
  sets: Readonly<Record<string, string | undefined>>;
}

/** Links to the same page with other parameters; the one that is shown is marked. */
export function presets(address: Address, title: string, choices: readonly Preset[]): Html {
  return html`<nav class="presets" aria-label="${title}"><ul>
    ${choices.map(({ title: name, sets }) => {
      const { href } = address.with({ ...sets, from_row: undefined });
      return html`<li><a href="${href}"${href === address.href && html` aria-current="true"`}>${name}</a></li> `;
    })}
  </ul></nav>`;
}

function control({ name, choices, kind = 'text', example }: Filter, value: string): Html {
  if (choices !== undefined && choices.length <= maxChoices) {
    const known = value === '' || choices.includes(value) ? choices : [value, ...choices];
    return html`<select name="${name}">
      <option value="">any</option>
      ${known.map((choice) => html`<option${choice === value && html` selected`}>${choice}</option>`)}
    </select>`;
  }
  if (kind === 'moment')
    // The browser's own form of a time: no zone, and no more than seconds. The address may have a zone, or a day alone.
    return html`<input type="datetime-local" name="${name}" value="${(looseMoment(value) ?? value).slice(0, 16)}" />`;
  return html`<input
    type="${kind === 'date' ? 'date' : 'text'}"
    name="${name}"
    value="${value}"
    maxlength="200"
    ${example !== undefined && html`placeholder="${example}"`}
  />`;
}
