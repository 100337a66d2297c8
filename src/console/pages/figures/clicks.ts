import { addDays, dayOf, shiftMoment, startOfDay } from '../../../kit/time/moment.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { recentClicks } from '../../data/click-queries.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';

type ClickRow = ConsoleRow<'recent_clicks'>;

const hour = 3_600_000_000n;

const columns: readonly Column<ClickRow>[] = [
  { name: 'clicked_at', title: 'Made', kind: 'moment' },
  { name: 'click_id', title: 'Click', kind: 'id', link: 'clicks' },
  { name: 'site_key', title: 'Site', link: 'sites' },
  { name: 'user_id', title: 'User', kind: 'id' },
  { name: 'title', title: 'Offer', whyNone: 'not in the catalog' },
  { name: 'offer_id', title: 'Id', kind: 'number', link: 'offers', whyNone: 'not in the catalog' },
  { name: 'country', title: 'Country', whyNone: 'unknown' },
  { name: 'device', title: 'Device', whyNone: 'unknown' },
];

/** Recent clicks, and the form that leads to one. */
export const clicksPage: Page = {
  path: '/clicks',
  navigation: 'Clicks',
  async show({ address, snapshot, data }) {
    const id = address.get('id')?.trim();
    if (id !== undefined && id !== '') return { redirect: `/clicks/${encodeURIComponent(id)}` };
    const { asOf } = snapshot;
    const [user, site] = [address.get('user')?.trim() ?? '', address.get('site')?.trim() ?? ''];
    const isFiltered = user !== '' || site !== '';
    const since = isFiltered ? startOfYesterday(asOf) : shiftMoment(asOf, -hour);
    const sites = await snapshot.ask('site_keys');
    const clicks = await recentClicks(snapshot, data, { since, user, site });
    return {
      title: 'Clicks',
      question: 'Which clicks came last, and why did one not count?',
      parts: [
        html`<form class="filters" method="get" action="/clicks">
            <label>Click id <input type="text" name="id" required maxlength="200" /></label>
            <button class="main">Show</button>
          </form>
          <p class="quiet">
            Publishers know the id as <code>click_id</code>. The search at the top also finds a click by the id of its
            conversion or postback. On the command line: <code>offerline sql "FROM clicks WHERE click_id = '…'"</code>
          </p>`,
        filterForm(address, [
          { name: 'user', title: 'User, whole id' },
          { name: 'site', title: 'Site', choices: sites.rows.map(({ site_key }) => site_key) },
        ]),
        dataTable<ClickRow>({
          name: 'clicks',
          caption: isFiltered
            ? 'Clicks of yesterday and today, the newest hundred'
            : 'Clicks of the last hour before the as-of, the newest hundred',
          columns,
          ...clicks,
          empty: 'There is none.',
        }),
      ],
    };
  },
};

/** The first moment of the day before the one of an as-of, UTC. */
export function startOfYesterday(asOf: string): string {
  return startOfDay(addDays(dayOf(asOf), -1));
}
