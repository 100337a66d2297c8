import { html, type Html } from '../../kit/html/html.ts';
import type { Site } from '../../kit/sites/sites.ts';

/** Pages of the portal, in the order of its navigation. */
const portalPages = [
  { path: '/portal', name: 'Statement' },
  { path: '/portal/conversions', name: 'Conversions' },
  { path: '/portal/postbacks', name: 'Postbacks' },
  { path: '/portal/feed', name: 'Offers and links' },
  { path: '/portal/signatures', name: 'Signatures' },
] as const;

export interface PortalFrame {
  /** Undefined for somebody who is not signed in. */
  site: Site | undefined;
  path: string;
  /** Moment that the figures are of. */
  asOf: string | undefined;
  /** Digest of the style sheet, which is part of its address. */
  version: string;
}

/** A whole document of the portal. */
export function portalDocument(title: string, body: Html, { site, path, asOf, version }: PortalFrame): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title} · for publishers</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/portal/style.css?${version}">
</head>
<body>
  <a class="skip" href="#content">Skip to the content</a>
  <header>
    <a class="brand" href="/portal">For publishers</a>
    ${site !== undefined && signedIn(site, path)}
  </header>
  <main id="content">
    <h1>${title}</h1>
    ${body}
  </main>
  <footer><p>All times are UTC.${asOf !== undefined && html` Figures are those of <time datetime="${asOf}">${asOf}</time>.`} Money is in USD after commission.</p></footer>
</body>
</html>
`.toString();
}

function signedIn({ site_key, name }: Site, current: string): Html {
  return html`<nav aria-label="Pages">
      ${portalPages.map(
        ({ path, name: title }) =>
          html`<a href="${path}"${path === current && html` aria-current="page"`}>${title}</a> `,
      )}
    </nav>
    <form class="user" method="post" action="/portal/sign-out">${name === '' ? site_key : name} <button>Sign out</button></form>`;
}
