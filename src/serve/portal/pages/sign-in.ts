import { html, type Html } from '../../../kit/html/html.ts';

/** The form to sign in by; `mistake` says why the last try failed. */
export function signInForm(siteKey: string, mistake?: string): Html {
  return html`${mistake !== undefined && html`<p role="alert">${mistake}</p>`}
    <form class="sign-in" method="post" action="/portal/sign-in">
      <label>site_key <input name="site_key" value="${siteKey}" autocomplete="username" required /></label>
      <label
        >site_secret <input name="site_secret" type="password" autocomplete="current-password" required
      /></label>
      <p><button>Sign in</button></p>
    </form>
    <p>They are those of your site’s requests. A sign-in holds for 12 hours.</p>`;
}
