import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, nothing, type Html } from '../html/html.ts';
import type { EnterLink } from './enter-link.ts';
import type { UserRegistry } from './user-registry.ts';
import type { ConsoleUser } from './users.ts';
import type { WhoAsks } from './who-asks.ts';

/** A whole page around what is in it. */
export type RenderPage = (title: string, body: Html) => string;

/** Whoever came by the one-time link. A space, which no name of the file has, tells them from all others. */
export const localOperator: ConsoleUser = { name: 'local operator', role: 'operator' };

export interface SignInParts {
  users: UserRegistry;
  link: EnterLink;
  who: WhoAsks;
  renderPage: RenderPage;
  now: () => number;
  /** Answers in place of the route, with true, where its address tried to sign in too often. */
  refusedAsTooMany: (request: FastifyRequest, reply: FastifyReply) => boolean;
}

/** A form is a line of text: nobody sends more who means it. Bytes. */
const bodyLimit = 2048;

/** The ways in, by a token or the one-time link, and the way out. A GET only shows: what it shows has to be sent. */
export function addSignInRoutes(app: FastifyInstance, parts: SignInParts): void {
  const { users, link, who, renderPage, now, refusedAsTooMany } = parts;
  const open = { config: { access: 'anybody' }, bodyLimit } as const;

  app.get('/sign-in', open, (_request, reply) => answer(reply, 200, signInPage(renderPage, '/')));
  app.post('/sign-in', open, async (request, reply) => {
    if (refusedAsTooMany(request, reply)) return reply;
    // Whoever was just added, or removed, need not wait until the file is looked at again.
    await users.poll();
    const next = ownPath(fieldOf(request.body, 'next'));
    const user = users.withToken(fieldOf(request.body, 'token').trim());
    if (user === undefined)
      return answer(
        reply,
        401,
        signInPage(renderPage, next, 'This token is not known. Check that all of it was pasted.'),
      );
    who.signIn(request, reply, user, user.token_sha256, now());
    return reply.redirect(next, 303);
  });
  app.post('/sign-out', open, (request, reply) => {
    who.signOut(request, reply);
    return reply.redirect('/sign-in', 303);
  });
  // The same for every token: whether it is good is told to whoever sends the form.
  app.get<{ Params: { token: string } }>('/enter/:token', open, ({ params }, reply) =>
    answer(reply, 200, enterPage(renderPage, params.token)),
  );
  app.post<{ Params: { token: string } }>('/enter/:token', open, (request, reply) => {
    if (refusedAsTooMany(request, reply)) return reply;
    if (!link.use(request.params.token, now())) return answer(reply, 410, usedLinkPage(renderPage));
    who.signIn(request, reply, localOperator, undefined, now());
    return reply.redirect('/', 303);
  });
}

/** `next`: where to go afterwards. */
export function signInPage(renderPage: RenderPage, next: string, mistake?: string): string {
  return renderPage(
    'Sign in',
    html`<h1>Sign in</h1>
      ${mistake === undefined ? nothing : html`<p role="alert">${mistake}</p>`}
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value="${next}" />
        <p>
          <label for="token">Token</label>
          <input id="token" name="token" type="password" autocomplete="current-password" required />
        </p>
        <p><button>Sign in</button></p>
      </form>
      <p>
        <code>offerline console add &lt;name&gt; --role viewer|operator</code> makes a user, on the machine that the
        console runs on, and prints their token once.
      </p>
      <p>If you have signed in already and came by a link from elsewhere, <a href="${next}">go on</a>.</p>`,
  );
}

function enterPage(renderPage: RenderPage, token: string): string {
  return renderPage(
    'Enter',
    html`<h1>Enter the console</h1>
      <p>This link is good once, for ten minutes after it was printed. It lets you in as an operator for 12 hours.</p>
      <form method="post" action="/enter/${encodeURIComponent(token)}">
        <p><button>Enter</button></p>
      </form>`,
  );
}

function usedLinkPage(renderPage: RenderPage): string {
  return renderPage(
    'Link used',
    html`<h1>This link is good no more</h1>
      <p role="alert">It was used, is older than ten minutes, or was never printed.</p>
      <p>Start the console again for a new one, or <a href="/sign-in">sign in</a> with a token.</p>`,
  );
}

export function answer(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

/** A field of a form that was sent; empty where it is missing, or sent more than once. */
function fieldOf(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

/** An address within the console, and its beginning for any other: nobody is sent elsewhere from here. */
export function ownPath(address: string): string {
  const base = 'http://console.invalid';
  if (!address.startsWith('/') || !URL.canParse(address, base)) return '/';
  const { origin, pathname, search } = new URL(address, base);
  // A path of two slashes names a host.
  return origin === base && !pathname.startsWith('//') ? pathname + search : '/';
}
