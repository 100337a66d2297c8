import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, nothing, type Html } from '../../kit/html/html.ts';
import type { EnterLink } from './enter-link.ts';
import type { UserRegistry } from './user-registry.ts';
import type { ConsoleUser } from './users.ts';
import type { Authenticator } from './authenticator.ts';

/** Renders a whole page around a body. */
export type RenderPage = (title: string, body: Html) => string;

/** The user of the one-time link. No name in the users' file has a space. */
const localOperator: ConsoleUser = { name: 'local operator', role: 'operator' };

export interface SignInParts {
  users: UserRegistry;
  link: EnterLink;
  authenticator: Authenticator;
  renderPage: RenderPage;
  now: () => number;
  /** Answers 429 and returns true where this address tried to sign in too often. */
  refusedAsTooMany: (request: FastifyRequest, reply: FastifyReply) => boolean;
}

/** Bytes of a sign-in form: an address has 16 KiB at most, and a form writes a character of it as three at most. */
const bodyLimit = 65_536;

/** Routes to sign in by a token or the one-time link, and to sign out. A GET shows a form; only its POST acts. */
export function addSignInRoutes(app: FastifyInstance, parts: SignInParts): void {
  const { users, link, authenticator, renderPage, now, refusedAsTooMany } = parts;
  const open = { config: { access: 'anybody' }, bodyLimit } as const;

  app.get('/sign-in', open, (_request, reply) => sendHtml(reply, 200, signInPage(renderPage, '/')));
  app.post('/sign-in', open, async (request, reply) => {
    if (refusedAsTooMany(request, reply)) return reply;
    // A user who was just added can sign in at once, a removed one no longer.
    await users.poll();
    const next = ownPath(fieldOf(request.body, 'next'));
    const user = users.withToken(fieldOf(request.body, 'token').trim());
    if (user === undefined)
      return sendHtml(
        reply,
        401,
        signInPage(renderPage, next, 'This token is not known. Check that you pasted all of it.'),
      );
    authenticator.signIn(request, reply, user, user.token_sha256, now());
    return reply.redirect(next, 303);
  });
  app.post('/sign-out', open, (request, reply) => {
    authenticator.signOut(request, reply);
    return reply.redirect('/sign-in', 303);
  });
  // The same page for every token; only the POST checks it.
  app.get<{ Params: { token: string } }>('/enter/:token', open, ({ params }, reply) =>
    sendHtml(reply, 200, enterPage(renderPage, params.token)),
  );
  app.post<{ Params: { token: string } }>('/enter/:token', open, (request, reply) => {
    if (refusedAsTooMany(request, reply)) return reply;
    if (!link.use(request.params.token, now())) return sendHtml(reply, 410, usedLinkPage(renderPage));
    authenticator.signIn(request, reply, localOperator, undefined, now());
    return reply.redirect('/', 303);
  });
}

/** `next`: the address to show afterwards. */
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
        To add a user, run <code>offerline console add &lt;name&gt; --role viewer|analyst|operator</code> on the machine of the
        console. The command prints the token once.
      </p>
      <p>If you are signed in and followed a link from another site, <a href="${next}">continue</a>.</p>`,
  );
}

function enterPage(renderPage: RenderPage, token: string): string {
  return renderPage(
    'Enter',
    html`<h1>Enter the console</h1>
      <p>This link is valid once, for ten minutes after it was printed. It signs you in as an operator for 12 hours.</p>
      <form method="post" action="/enter/${encodeURIComponent(token)}">
        <p><button>Enter</button></p>
      </form>`,
  );
}

function usedLinkPage(renderPage: RenderPage): string {
  return renderPage(
    'Link used',
    html`<h1>This link is no longer valid</h1>
      <p role="alert">It was used, is older than ten minutes, or was never printed by this console.</p>
      <p>
        Run <code>offerline console link</code> on the machine of the console for a new one, or
        <a href="/sign-in">sign in</a> with a token.
      </p>`,
  );
}

/** Sends a page. */
export function sendHtml(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

/** A field of a form; empty where it is missing or comes more than once. */
function fieldOf(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

/** Returns an address within the console; `/` for any other, so that nobody is redirected to another site. */
export function ownPath(address: string): string {
  const base = 'http://console.invalid';
  if (!address.startsWith('/') || !URL.canParse(address, base)) return '/';
  const { origin, pathname, search } = new URL(address, base);
  // A path of two slashes names a host.
  return origin === base && !pathname.startsWith('//') ? pathname + search : '/';
}
