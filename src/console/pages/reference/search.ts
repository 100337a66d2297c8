import { snapshotNames } from '../../../pipeline/snapshot/snapshot-store.ts';
import { counted } from '../../../kit/text/counted.ts';
import { clickQueries, recentClicks } from '../../data/click-queries.ts';
import { TooSlowError } from '../../data/console-snapshot.ts';
import { TooBusyError } from '../../data/serial-queue.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { startOfYesterday } from '../figures/clicks.ts';
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
    const { found, isPart } = id === '' ? { found: [], isPart: false } : await find(id, request);
    const [only] = found;
    if (only !== undefined && found.length === 1 && !isPart) return { redirect: only.href };
    return {
      title: id === '' ? 'Search' : `Search: ${id}`,
      question: 'What has this id, or this text?',
      parts: [
        filterForm(request.address, [{ name: 'id', title: 'Title, user, file or id' }]),
        isPart &&
          html`<p role="status">
            Clicks, conversions and users were not searched: that took too long, or too many others search. Try again.
          </p>`,
        dataTable<FoundRow>({
          name: 'found',
          caption: 'Found',
          columns,
          rows: found,
          empty: html`${id === '' ? 'Enter a title, a user, a file or an id.' : `Nothing has the id or the text “${id}”.`} The search takes a whole id: of an
          offer (ours or its source's), site, click, conversion, postback, run, snapshot, or of a user who clicked
          yesterday or today; or three letters or more of an offer's title, a site's name or a file's path.`,
        }),
      ],
    };
  },
};

/** A webhook id, as the outbox makes it. */
const webhookId = /^pb_[0-9a-f]{32}$/;

/** What has the id or the text; a part of it where only the search of events took too long. */
async function find(id: string, request: PageRequest): Promise<{ found: FoundRow[]; isPart: boolean }> {
  const things = await request.snapshot.ask('found_things', { parameters: { id } });
  const rowsOf = (isExact: boolean) =>
    things.rows
      .filter(({ is_exact }) => is_exact === isExact)
      .map(({ kind, id: its, what }) => ({ kind, id: its, what, href: `/${kind}s/${encodeURIComponent(its)}` }));
  const found: FoundRow[] = rowsOf(true);
  if ((await snapshotNames(request.data)).includes(id))
    found.push({ kind: 'snapshot', id, what: 'kept', href: `/offers?snapshot=${encodeURIComponent(id)}` });
  // Events of sixty days are searched last: only where nothing smaller has the id. What has it in a text follows them.
  if (found.length > 0) return { found, isPart: false };
  const ofText = rowsOf(false);
  try {
    return { found: [...(await findEvents(id, request)), ...ofText], isPart: false };
  } catch (error) {
    if (ofText.length === 0 || !(error instanceof TooSlowError || error instanceof TooBusyError)) throw error;
    return { found: ofText, isPart: true };
  }
}

/** A postback, click, conversion or user with the id. A conversion that has its click's id is on the click's page. */
async function findEvents(id: string, { snapshot, deliveries, data }: PageRequest): Promise<FoundRow[]> {
  if (webhookId.test(id)) {
    const postbacks = (await deliveries.show(id)) ?? [];
    return postbacks.map(({ postback }) => ({ kind: 'postback', id, what: postback.state, href: `/postbacks/${id}` }));
  }
  const ask = await clickQueries(id, snapshot, data);
  const [click] = (await ask('click', 'clicks')).rows;
  if (click !== undefined) return [{ kind: 'click', id, what: `on site ${click.site_key}`, href: clickAddress(id) }];
  const conversions = await snapshot.ask('found_conversions', { parameters: { id } });
  if (conversions.rows.length > 0)
    return conversions.rows.map(({ click_id, status }) => ({
      kind: 'conversion',
      id,
      what: `${status}, of click ${click_id}`,
      href: clickAddress(click_id),
    }));
  const clicks = await recentClicks(snapshot, data, { since: startOfYesterday(snapshot.asOf), user: id, site: '' });
  const { length } = clicks.rows;
  const what = `clicked ${length === 100 ? 'at least 100 times' : counted(length, 'time')} yesterday and today`;
  return length === 0 ? [] : [{ kind: 'user', id, what, href: `/clicks?user=${encodeURIComponent(id)}` }];
}

function clickAddress(id: string): string {
  return `/clicks/${encodeURIComponent(id)}`;
}
