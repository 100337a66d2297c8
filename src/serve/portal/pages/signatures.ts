import { html } from '../../../kit/html/html.ts';
import type { PortalPage } from '../portal-page.ts';

/** How a postback's signature is verified, with what the site sees of its own. */
export const signaturesPage: PortalPage = {
  path: '/portal/signatures',
  title: 'Signatures',
  show({ site }) {
    const key = encodeURIComponent(site.site_key).replaceAll(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
    return html`<p>
        Check a postback’s signature before you apply it, and apply each <code>webhook-id</code> once: a postback may come
        twice. Both signatures are keyed by the UTF-8 bytes of your <code>site_secret</code>, which no page shows.
      </p>
      <h2><code>signature</code>, among the six fields</h2>
      <ol>
        <li>
          Take the five other fields as text: by GET the decoded parameters, by POST the members of the body,
          <code>reward</code> with the digits that stand there.
        </li>
        <li>
          Percent-encode each value by RFC 3986 and join them in this order:
          <pre tabindex="0"><code>click_id=…&amp;event=credit&amp;reward=12.5&amp;site_key=${key}&amp;user_id=…</code></pre>
        </li>
        <li>
          The signature is the HMAC-SHA256 of that text in lower-case hex:
          <pre tabindex="0"><code>printf %s "$TEXT" | openssl dgst -sha256 -hmac "$SITE_SECRET"</code></pre>
        </li>
        <li>Compare the two in constant time.</li>
      </ol>
      <h2><code>webhook-signature</code>, of the whole request</h2>
      <p>
        As <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a> has it: the HMAC-SHA256 of
        <code>webhook-id</code>, <code>webhook-timestamp</code> and the raw body, with dots between them, in base64 behind
        <code>v1,</code>. By GET, path and query as they arrived stand in for the body. Refuse a timestamp that is more
        than five minutes off.
      </p>
      <h2>Your address</h2>
      <p>
        ${
          site.postback === undefined
            ? 'You have none yet: ask us to enter one.'
            : html`Postbacks go by ${site.postback.method} to <code>${new URL(site.postback.url).host}</code>.
              <a href="/portal/postbacks">Send a test postback</a> to see what it answers.`
        }
      </p>
      <p>All of the interface is at <a href="/docs">/docs</a>, with examples in several languages in our guide.</p>`;
  },
};
