import { html } from '../../html/html.ts';
import type { Page } from '../../page/page.ts';

/** The form that leads to a click. */
export const clicksPage: Page = {
  path: '/clicks',
  navigation: 'Clicks',
  show({ address }) {
    const id = address.get('id')?.trim();
    if (id !== undefined && id !== '') return { redirect: `/clicks/${encodeURIComponent(id)}` };
    return {
      title: 'Clicks',
      question: 'Why did a click not count?',
      parts: [
        html`<form class="filters" method="get" action="/clicks">
            <label>Click id <input type="text" name="id" required maxlength="200" /></label>
            <button>Show</button>
          </form>
          <p class="quiet">
            Publishers know the id as <code>click_id</code>. The search at the top also finds a click by the id of its
            conversion or postback. On the command line: <code>offerline sql "FROM clicks WHERE click_id = '…'"</code>
          </p>`,
      ],
    };
  },
};
