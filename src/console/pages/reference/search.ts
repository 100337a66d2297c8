import { snapshotNames } from '../../../pipeline/snapshot/snapshot-store.ts';
import { clickQuestions } from '../../data/click-files.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page, Visit } from '../../page/page.ts';

/** Something that has the id that is searched. */
interface Found {
  kind: string;
  id: string;
  what: string;
  href: string;
}

const columns: readonly Column<Found>[] = [
  { name: 'kind', title: 'Kind' },
  { name: 'id', title: 'Id', show: ({ id, href }) => html`<a href="${href}">${id}</a>` },
  { name: 'what', title: 'What it is' },
];

/** What has this id? Leads to the one thing that has it; lists them where there are several. */
export const searchPage: Page = {
  path: '/search',
  live: true,
  async show(visit) {
    const id = visit.address.get('id')?.trim() ?? '';
    const found = id === '' ? [] : await find(id, visit);
    const [only] = found;
    if (only !== undefined && found.length === 1) return { elsewhere: only.href };
    return {
      title: id === '' ? 'Search' : `Search: ${id}`,
      question: 'What has this id?',
      parts: [
        filterForm(visit.address, [{ name: 'id', title: 'Id' }]),
        table<Found>({
          name: 'found',
          caption: 'Found',
          columns,
          rows: found,
          empty: html`${id === '' ? 'Nothing is searched for.' : `Nothing has the id “${id}”.`} An id is searched whole: of an
          offer, also its source’s, a site, click, conversion, postback, run or snapshot, or the path of a file. Titles are
          searched on <a href="/offers">the page of offers</a>.`,
        }),
      ],
    };
  },
};

const pages: Readonly<Record<string, string>> = { offer: '/offers/', site: '/sites/', run: '/runs/', file: '/files/' };

/** As the outbox has them. */
const webhookId = /^pb_[0-9a-f]{32}$/;

async function find(id: string, { snapshot, deliveries, data }: Visit): Promise<Found[]> {
  const parameters = { id };
  const things = await snapshot.ask('found_things', { parameters });
  const found = things.rows.map((thing) => ({ ...thing, href: `${pages[thing.kind]}${encodeURIComponent(thing.id)}` }));
  const snapshots = (await snapshotNames(data)).filter((name) => name === id);
  found.push(...snapshots.map((name) => ({ kind: 'snapshot', id, what: 'kept', href: ofSnapshot(name) })));
  // To look among events is to look through sixty days: not where something smaller has the id, nor by an id of another
  // form. Conversions that have their click's id stand on its page.
  if (found.length > 0) return found;
  if (webhookId.test(id)) {
    const postbacks = (await deliveries.show(id)) ?? [];
    return postbacks.map(({ postback }) => ({ kind: 'postback', id, what: postback.state, href: `/postbacks/${id}` }));
  }
  const ask = await clickQuestions(id, snapshot, data);
  const [click] = (await ask('click', 'clicks')).rows;
  if (click !== undefined) return [{ kind: 'click', id, what: `on site ${click.site_key}`, href: ofClick(id) }];
  const conversions = await snapshot.ask('found_conversions', { parameters });
  return conversions.rows.map(({ click_id, status }) => ({
    kind: 'conversion',
    id,
    what: `${status}, of click ${click_id}`,
    href: ofClick(click_id),
  }));
}

function ofClick(id: string): string {
  return `/clicks/${encodeURIComponent(id)}`;
}

function ofSnapshot(name: string): string {
  return `/offers?snapshot=${encodeURIComponent(name)}`;
}
