import { html, type Html } from '../../../kit/html/html.ts';
import { resendBody, testBody } from '../../variant-c/orders/bodies.ts';
import { resendOperation } from '../../variant-c/orders/resend.ts';
import { testPostback } from '../../variant-c/orders/test.ts';
import type { PortalRequest } from '../portal-page.ts';

const back = html`<p><a href="/portal/postbacks">Back to the postbacks</a></p>`;

/** A form that sends a postback again unless it had more attempts than those. */
export function resendForm({ postback_id, attempts }: { postback_id: string; attempts: number }): Html {
  return html`<form method="post" action="/portal/postbacks/${encodeURIComponent(postback_id)}/resend">
    <input type="hidden" name="attempts" value="${attempts}" /><button>
      Send again<span class="spoken"> ${postback_id}</span>
    </button>
  </form>`;
}

/** Sends one of the site's postbacks again and says what happens next. */
export async function resendAnswer({ asked, ask }: PortalRequest): Promise<Html> {
  const { postback_id, resent, state, attempts, message } = await ask(resendOperation, resendBody, asked);
  // The page's attempts are the snapshot's: more may have followed.
  const hadMore = !resent && state !== 'delivering' && attempts > Number(asked['attempts']);
  return html`<p role="status">
      ${resent ? 'Ordered' : 'Nothing new was ordered'}: postback <code>${postback_id}</code> is ${state}, after ${attempts}
      attempts.
    </p>
    <p>${message}.</p>
    ${hadMore && html`<p>This button names ${attempts}:</p>${resendForm({ postback_id, attempts })}`}
    ${back}`;
}

/** Sends a test postback and says what the site's address answered. */
export async function testAnswer({ ask }: PortalRequest): Promise<Html> {
  const { delivered, host, status, error, duration_ms, click_id, message } = await ask(testPostback, testBody, {});
  return html`<p role="status">
      ${host} ${delivered ? 'took the test' : `did not take the test: ${error}`}${status !== null && `, status ${status}`},
      after ${duration_ms} ms. Its click is <code>${click_id}</code>.
    </p>
    <p>${message}.</p>
    ${back}`;
}
