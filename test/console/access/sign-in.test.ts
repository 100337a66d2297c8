import { rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ownPath } from '../../../src/console/access/sign-in.ts';
import { addUser, removeUser, type Role } from '../../../src/console/access/users.ts';
import { consoleForTest, cookieOf, type ConsoleForTest } from './console-for-test.ts';

const hours = 3_600_000;

async function signedIn(running: ConsoleForTest, name: string, role: Role) {
  const token = await addUser(running.usersFile, { name, role });
  return { token, headers: cookieOf(await running.post('/sign-in', { token })) };
}

it('a stranger gets the form for every page, and the page after signing in', async () => {
  const running = await consoleForTest();
  const { token } = await signedIn(running, 'ada', 'viewer');
  for (const path of ['/offers?sort=epc&after=3', '/nothing-there', '/']) {
    const refused = await running.ask(path);
    expect(refused.status).toBe(401);
    expect(refused.body).toContain('<title>Sign in</title>');
    expect(refused.body).toContain(`name="next" value="${path.replaceAll('&', '&amp;')}"`);
  }
  const { status, headers } = await running.post('/sign-in', { token, next: '/offers?sort=epc' });
  expect([status, headers.location]).toEqual([303, '/offers?sort=epc']);
  expect((await running.ask('/style.css')).status).toBe(200);
});

it('the longest address is shown after signing in', async () => {
  const running = await consoleForTest();
  const { token } = await signedIn(running, 'ada', 'viewer');
  const next = `/sql?q=${encodeURIComponent('&'.repeat(4_000))}`;
  const { status, headers } = await running.post('/sign-in', { token, next });
  expect([status, headers.location]).toEqual([303, next]);
});

it('only a whole token opens a session, also for a user just added', async () => {
  const running = await consoleForTest();
  const token = await addUser(running.usersFile, { name: 'ada', role: 'viewer' });
  const wrong = await running.post('/sign-in', { token: token.slice(0, -1) });
  expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
  expect(wrong.body).toContain('This token is not known');
  const right = await running.post('/sign-in', { token: ` ${token}\n` });
  expect(right.status).toBe(303);
  expect((await running.ask('/offers', { headers: cookieOf(right) })).body).toBe('ada viewer');
  expect((await running.ask('/nothing-there', { headers: cookieOf(right) })).status).toBe(404);
  expect(running.log.join('')).not.toContain(token);
});

it('the cookie is bound to path and host, and hidden from scripts and other sites', async () => {
  const running = await consoleForTest();
  const answer = await running.post(running.access.issueLink());
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^offerline-console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
});

it('a session lasts 12 hours', async () => {
  const running = await consoleForTest();
  const { headers } = await signedIn(running, 'ada', 'viewer');
  running.clock.now += 12 * hours - 1;
  expect((await running.ask('/offers', { headers })).status).toBe(200);
  running.clock.now += 1;
  expect((await running.ask('/offers', { headers })).status).toBe(401);
});

it('signing out ends the session, also for a kept cookie, and needs a POST', async () => {
  const running = await consoleForTest();
  const { headers } = await signedIn(running, 'ada', 'viewer');
  expect((await running.ask('/sign-out', { headers })).status).toBe(404);
  expect((await running.ask('/offers', { headers })).status).toBe(200);
  const out = await running.post('/sign-out', {}, headers);
  expect([out.status, out.headers.location]).toEqual([303, '/sign-in']);
  expect(out.headers['set-cookie']?.[0]).toMatch(/^offerline-console=; Max-Age=0; Path=\//);
  expect((await running.ask('/offers', { headers })).status).toBe(401);
});

it('signing in again ends the last session', async () => {
  const running = await consoleForTest();
  const { token, headers } = await signedIn(running, 'ada', 'viewer');
  const again = cookieOf(await running.post('/sign-in', { token }, headers));
  expect((await running.ask('/offers', { headers })).status).toBe(401);
  expect((await running.ask('/offers', { headers: again })).status).toBe(200);
});

it('a removed user loses the session at the next poll; a new user of that name does not get it', async () => {
  const running = await consoleForTest();
  const { headers } = await signedIn(running, 'ada', 'operator');
  await removeUser(running.usersFile, 'ada');
  await addUser(running.usersFile, { name: 'ada', role: 'operator' });
  expect((await running.ask('/offers', { headers })).status).toBe(200);
  await running.users.poll();
  expect((await running.ask('/offers', { headers })).status).toBe(401);
});

it('a broken users’ file keeps the last users, and is logged once, without its content', async () => {
  const running = await consoleForTest();
  const { token, headers } = await signedIn(running, 'ada', 'operator');
  await writeFile(running.usersFile, `{"users":[{"name":"ada","role":"king","token_sha256":"${token}"}]`);
  await running.users.poll();
  await running.users.poll();
  expect((await running.ask('/offers', { headers })).body).toBe('ada operator');
  expect((await running.post('/sign-in', { token })).status).toBe(303);
  expect(running.log.filter((line) => line.includes('"level":50'))).toHaveLength(1);
  expect(running.log.join('')).not.toContain(token);
});

it('a missing users’ file locks nobody out', async () => {
  const running = await consoleForTest();
  const { headers } = await signedIn(running, 'ada', 'operator');
  await rm(running.usersFile);
  await running.users.poll();
  expect((await running.ask('/offers', { headers })).body).toBe('ada operator');
  expect(running.log.at(-1)).toContain('users.json is gone');
});

it('the link signs in once, as an operator, by the button of its page and not by a GET', async () => {
  const running = await consoleForTest();
  const path = running.access.issueLink();
  expect(path).toMatch(/^\/enter\/[\w-]{43}$/);
  for (const page of [await running.ask(path), await running.ask(path)]) {
    expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined]);
    expect(page.body).toContain(`<form method="post" action="${path}">`);
  }
  expect((await running.ask('/enter/%22%3E%3Cscript%3E')).body).not.toContain('<script>');
  const entered = await running.post(path);
  expect([entered.status, entered.headers.location]).toEqual([303, '/']);
  expect((await running.ask('/offers', { headers: cookieOf(entered) })).body).toBe('local operator operator');
  const again = await running.post(path);
  expect([again.status, again.headers['set-cookie']]).toEqual([410, undefined]);
});

it('the link is valid for ten minutes, and until a newer one', async () => {
  const running = await consoleForTest();
  const [late, early] = [running.access.issueLink(), running.access.issueLink()];
  expect((await running.post(late)).status).toBe(410);
  expect((await running.post('/enter/made-up')).status).toBe(410);
  running.clock.now += 10 * 60_000 - 1;
  expect((await running.post(early)).status).toBe(303);
  const last = running.access.issueLink();
  running.clock.now += 10 * 60_000;
  expect((await running.post(last)).status).toBe(410);
});

it.for([
  ['/offers?a=1&b=%2F', '/offers?a=1&b=%2F'],
  ['', '/'],
  ['offers', '/'],
  ['https://evil.example/', '/'],
  ['//evil.example/', '/'],
  ['/\\evil.example/', '/'],
  ['/\t/evil.example/', '/'],
  ['/.//evil.example', '/'],
  ['/..//evil.example', '/'],
  ['/offers\r\nSet-Cookie: a=b', '/offersSet-Cookie:%20a=b'],
] as const)('%j leads to %j', ([address, path]) => {
  expect(ownPath(address)).toBe(path);
});
