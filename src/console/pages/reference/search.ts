import { snapshotNames } from '../../../pipeline/snapshot/snapshot-store.ts';
import { clickQueries } from '../../data/click-queries.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import type { Page, PageRequest } from '../../page/page.ts';

/** A thing that has the id. */
interface FoundRow {
  kind: string;
  id: string;
  what: string;
  href: string;
}

const columns: readonly Column<FoundRow>[] = [
  { name: 'kind', title: 'Kind' },
  { name: 'id', title: 'Id', show: ({ id, href }) => html`<a href="${href}">${id}</a>` },
  { name: 'what', title: 'What it is' },
];

/** Redirects to the only thing that has the id, or lists all that have it. */
export const searchPage: Page = {
  path: '/search',
  live: true,
  async show(request) {
    const id = request.address.get('id')?.trim() ?? '';
    const found = id === '' ? [] : await find(id, request);
    const [only] = found;
    if (only !== undefined && found.length === 1) return { redirect: only.href };
    return {
      title: id === '' ? 'Search' : `Search: ${id}`,
      question: 'What has this id?',
      parts: [
        filterForm(request.address, [{ name: 'id', title: 'Id' }]),
        dataTable<FoundRow>({
          name: 'found',
          caption: 'Found',
          columns,
          rows: found,
          empty: html`${id === '' ? 'Enter an id.' : `Nothing has the id “${id}”.`} The search takes a whole id: of an
          offer (ours or its source's), site, click, conversion, postback, run or snapshot, or the path of a file. To
          search titles, use <a href="/offers">offers</a>.`,
        }),
      ],
    };
  },
};

/** A webhook id, as the outbox makes it. */
const webhookId = /^pb_[0-9a-f]{32}$/;

async function find(id: string, { snapshot, deliveries, data }: PageRequest): Promise<FoundRow[]> {
  const parameters = { id };
  const things = await snapshot.ask('found_things', { parameters });
  const found = things.rows.map((thing) => ({ ...thing, href: `/${thing.kind}s/${encodeURIComponent(thing.id)}` }));
  if ((await snapshotNames(data)).includes(id))
    found.push({ kind: 'snapshot', id, what: 'kept', href: `/offers?snapshot=${encodeURIComponent(id)}` });
  // Events of sixty days are searched last: only where nothing smaller has the id. A conversion that has the id of its
  // click is on the click's page.
  if (found.length > 0) return found;
  if (webhookId.test(id)) {
    const postbacks = (await deliveries.show(id)) ?? [];
    return postbacks.map(({ postback }) => ({ kind: 'postback', id, what: postback.state, href: `/postbacks/${id}` }));
  }
  const ask = await clickQueries(id, snapshot, data);
  const [click] = (await ask('click', 'clicks')).rows;
  if (click !== undefined) return [{ kind: 'click', id, what: `on site ${click.site_key}`, href: clickAddress(id) }];
  const conversions = await snapshot.ask('found_conversions', { parameters });
  return conversions.rows.map(({ click_id, status }) => ({
    kind: 'conversion',
    id,
    what: `${status}, of click ${click_id}`,
    href: clickAddress(click_id),
  }));
}

function clickAddress(id: string): string {
  return `/clicks/${encodeURIComponent(id)}`;
}
