import type { Address } from './address.ts';
import { html, type Html } from './html.ts';

/** A filter of a page. */
export interface Filter {
  /** The parameter of the address. */
  name: string;
  title: string;
  /** The values to choose from. Default: any text. */
  choices?: readonly string[];
  kind?: 'text' | 'date';
}

/** A form that leads to the same page with other parameters. */
export function filterForm(address: Address, filters: readonly Filter[]): Html {
  const kept = [...address.parameters].filter(
    ([name]) => !['csv', 'from_row'].includes(name) && !filters.some((filter) => filter.name === name),
  );
  return html`<form class="filters" method="get" action="${address.path}">
    ${filters.map((filter) => html`<label>${filter.title} ${control(filter, address.get(filter.name) ?? '')}</label> `)}
    ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button>Show</button>
  </form>`;
}

function control({ name, choices, kind = 'text' }: Filter, value: string): Html {
  if (choices === undefined)
    return html`<input type="${kind === 'date' ? 'date' : 'text'}" name="${name}" value="${value}" maxlength="200" />`;
  return html`<select name="${name}">
    <option value="">any</option>
    ${choices.map((choice) => html`<option${choice === value && html` selected`}>${choice}</option>`)}
  </select>`;
}
