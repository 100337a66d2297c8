import { ageText } from '../../kit/time/age.ts';
import { withTypedCode } from '../../kit/text/typed-commands.ts';
import { html, nothing, type Html } from '../../kit/html/html.ts';
import type { HealthSummary } from '../live/health.ts';

export interface NavigationGroup {
  title: string;
  pages: readonly { path: string; name: string }[];
}

/** The frame around a page, for users who are signed in. */
export interface PageFrame {
  /** The pages of the navigation, in groups. */
  navigation: readonly NavigationGroup[];
  /** Path of the page. */
  path: string;
  /** The snapshot that is shown; undefined before anything was published. */
  snapshot?: { id: string; asOf: string; isCurrent: boolean } | undefined;
  health: HealthSummary;
  /** What waits on this page. */
  waiting: Html | false;
  user: { name: string; role: string };
  /** Milliseconds since the epoch. */
  now: number;
}

const shapes = { well: '●', attention: '◐', alarm: '▲' } as const;

/**
 * A whole document. `version` is the digest of style sheet and script: a new version has new addresses. Without a user
 * it has no frame.
 */
export function document(title: string, body: Html, version: string, frame?: PageFrame): string {
  const word = frame?.health.word ?? 'well';
  const page = html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${word === 'well' ? '' : `${shapes[word]} `}${title} · offerline</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <link rel="icon" href="/static/icon-${word}.svg?${version}" type="image/svg+xml">
  <link rel="stylesheet" href="/static/console.css?${version}">
  <script src="/static/console.js?${version}" defer></script>
</head>
<body data-snapshot="${frame?.snapshot?.id ?? ''}">
  <a class="skip" href="#content">Skip to the content</a>
  <header>
    <a class="brand" href="/">offerline</a>
    ${frame !== undefined && statusLine(frame)}
  </header>
  <div class="${frame === undefined ? 'alone' : 'frame'}">
  ${frame !== undefined && navigation(frame)}
  <div class="page">
  <p id="news" role="status" hidden></p>
  <main id="content">${frame?.waiting}${body}</main>
  <footer><p>All times are UTC; rest the pointer on one for yours. Money is in USD, before commission unless the page says otherwise.</p></footer>
  </div>
  </div>
</body>
</html>
`;
  return withTypedCode(page.toString());
}

function statusLine({ health, snapshot, user, now }: PageFrame): Html {
  return html`<a class="health ${health.word}" href="/#attention"><span aria-hidden="true">${shapes[health.word]}</span> ${health.word}</a>
    <span class="asof">${health.running !== null && html`<span class="state waiting">${health.running}</span> `}${snapshot === undefined ? nothing : asOf(snapshot, now)}</span>
    <form class="search" role="search" action="/search">
      <label><span class="spoken">Search for a title, user, file or id</span><input type="search" name="id" placeholder="title, user, file, any id" maxlength="200"></label>
      <button>Find</button>
    </form>
    <span class="user">${user.name}, ${user.role} <form class="inline" method="post" action="/sign-out"><button class="quiet">Sign out</button></form></span>`;
}

function asOf(snapshot: NonNullable<PageFrame['snapshot']>, now: number): Html {
  const age = ageText((now - Date.parse(snapshot.asOf)) / 1000);
  const text = `${snapshot.asOf.slice(0, 10)} ${snapshot.asOf.slice(11, 16)} UTC`;
  const older = !snapshot.isCurrent && html`<strong>not the current snapshot</strong>: `;
  return html`${older}as of <time datetime="${snapshot.asOf}">${text}</time>, ${age}, <a href="/snapshots">snapshot ${snapshot.id}</a>`;
}

function navigation({ navigation: groups, path: current }: PageFrame): Html {
  return html`<nav class="pages" aria-label="Pages">${groups.map(
    ({ title, pages }) =>
      html`<p>${title}</p>
        <ul>
          ${pages.map(({ path, name }) => html`<li><a href="${path}"${isWithin(current, path) && html` aria-current="page"`}>${name}</a></li>`)}
        </ul> `,
  )}</nav>`;
}

function isWithin(path: string, group: string): boolean {
  return group === '/' ? path === '/' : path === group || path.startsWith(`${group}/`);
}
