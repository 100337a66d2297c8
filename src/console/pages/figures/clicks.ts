import { html } from '../../html/html.ts';
import type { Page } from '../../page/page.ts';

/** Where a click is asked for. */
export const clicksPage: Page = {
  path: '/clicks',
  navigation: 'Clicks',
  show({ address }) {
    const id = address.get('id')?.trim();
    if (id !== undefined && id !== '') return Promise.resolve({ elsewhere: `/clicks/${encodeURIComponent(id)}` });
    return Promise.resolve({
      title: 'Clicks',
      question: 'Why did it not count?',
      parts: [
        html`<form class="filters" method="get" action="/clicks">
            <label>Id of the click <input type="text" name="id" required maxlength="200" /></label>
            <button>Show</button>
          </form>
          <p class="quiet">
            The publisher has it as <code>click_id</code>. Of a conversion or a postback the search above finds the click,
            too. On the command line: <code>offerline sql "FROM clicks WHERE click_id = '…'"</code>
          </p>`,
      ],
    });
  },
};
