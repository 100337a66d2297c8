import { chownSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { pino } from 'pino';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { addConsoleUserCommands } from '../../../src/cli/commands/operators/console-users.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { Sessions } from '../../../src/console/access/sessions.ts';
import { writeEnterLink } from '../../../src/console/access/enter-link.ts';
import { UserRegistry } from '../../../src/console/access/user-registry.ts';
import { addUser, secretDigest, readUsers, removeUser } from '../../../src/console/access/users.ts';
import { temporaryFolder } from './console-for-test.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'console', 'users.json');
});

it('a token of 32 random bytes is shown once; the file has its digest, readable by the owner only', async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const token = await addUser(file, { name: 'ada', role: 'operator' });
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  expect(await addUser(file, { name: 'vera', role: 'viewer' })).not.toBe(token);
  expect([statSync(file).mode & 0o777, statSync(join(file, '..')).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect(readUsers(file)[0]).toEqual({ name: 'ada', role: 'operator', token_sha256: secretDigest(token) });
  await removeUser(file, 'ada');
  expect(readUsers(file).map(({ name }) => name)).toEqual(['vera']);
});

it('a name is unique, and needs no escaping in a log', async () => {
  await addUser(file, { name: 'ada', role: 'operator' });
  const before = readFileSync(file, 'utf8');
  await expect(addUser(file, { name: 'ada', role: 'viewer' })).rejects.toThrow('there is a user ada already');
  for (const name of ['', 'local operator', 'a\nb', 'ä', 'a'.repeat(65)])
    await expect(addUser(file, { name, role: 'viewer' })).rejects.toThrow('is not a valid name');
  await expect(removeUser(file, 'eve')).rejects.toThrow('there is no user eve');
  expect(readFileSync(file, 'utf8')).toBe(before);
});

it('users that are added and removed at the same time are all as they were asked for', async () => {
  await addUser(file, { name: 'gone', role: 'viewer' });
  const names = ['ada', 'bea'];
  await Promise.all([removeUser(file, 'gone'), ...names.map((name) => addUser(file, { name, role: 'viewer' }))]);
  const kept = readUsers(file).map(({ name }) => name);
  expect(kept.toSorted()).toEqual(names);
});

it.skipIf(process.getuid?.() !== 0)("a file that root changes stays its owner's, whose console reads it", async () => {
  await addUser(file, { name: 'ada', role: 'operator' });
  chownSync(file, 12_345, 12_345);
  await removeUser(file, 'ada');
  const { uid, gid, mode } = statSync(file);
  expect([uid, gid, mode & 0o777]).toEqual([12_345, 12_345, 0o600]);
});

it.skipIf(process.getuid?.() !== 0)("what root makes in the console's folder is the folder's owner's", async () => {
  await mkdir(join(file, '..'));
  chownSync(join(file, '..'), 12_345, 12_345);
  const link = join(file, '..', 'link.json');
  await addUser(file, { name: 'ada', role: 'operator' });
  await writeEnterLink(link, 0);
  expect([file, link].map((path) => statSync(path).uid)).toEqual([12_345, 12_345]);
});

const user = { name: 'ada', role: 'viewer', token_sha256: 'a'.repeat(64) };
it.for([
  ['{"users":[secret', 'users.json is not valid JSON'],
  [
    JSON.stringify({ users: [{ ...user, role: 'king' }] }, null, 1),
    'line 5: users[0].role is not "viewer", "analyst" or "operator"',
  ],
  [JSON.stringify({ users: [{ ...user, token_sha256: 'secret' }] }), 'is not a SHA-256'],
  [JSON.stringify({ users: [user, user] }), 'two users have the same name'],
] as const)('%s starts nothing and is not written over', async ([text, message]) => {
  await mkdir(join(file, '..'));
  await writeFile(file, text);
  await expect(new UserRegistry(file, pino({ level: 'silent' })).start()).rejects.toThrow(message);
  await expect(addUser(file, { name: 'eve', role: 'viewer' })).rejects.toThrow(/^(?!.*secret).*$/s);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it('session 1,001 ends the oldest', () => {
  const sessions = new Sessions();
  const start = (now: number) => sessions.start({ name: 'ada', role: 'viewer' }, undefined, now);
  const [first, second] = [start(0), start(1)];
  for (let count = 2; count < 1000; count++) start(count);
  expect(sessions.find(first, 1000)).toBeDefined();
  start(1000);
  expect(sessions.find(first, 1000)).toBeUndefined();
  expect(sessions.find(second, 1000)).toMatchObject({ name: 'ada', role: 'viewer' });
});

it('the commands add, list and remove users; the role is required', async () => {
  vi.stubEnv('OFFERLINE_DATA', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const logger = pino({ level: 'silent' });
  const type = async (...words: string[]) => {
    let printed = '';
    const program = new Command('console').exitOverride().configureOutput({ writeErr: () => undefined });
    addConsoleUserCommands(program, { terminal: { logger, progress: noProgress }, print: (text) => (printed += text) });
    await program.parseAsync(words, { from: 'user' });
    return printed;
  };
  const added = JSON.parse(await type('add', 'ada', '--role', 'operator', '--json')) as { token: string };
  expect(added).toEqual({ name: 'ada', role: 'operator', token: expect.stringMatching(/^[\w-]{43}$/) });
  expect(secretDigest(added.token)).toBe(readUsers(file)[0]?.token_sha256);
  expect(await type('users')).toBe('name  role\nada   operator\n');
  expect(JSON.parse(await type('users', '--json'))).toEqual({ users: [{ name: 'ada', role: 'operator' }] });
  await expect(type('add', 'vera')).rejects.toThrow('--role');
  await expect(type('add', 'vera', '--role', 'king')).rejects.toThrow('king');
  expect(await type('remove', 'ada')).toBe('ada was removed\n');
  expect(await type('users')).toBe('(none)\n');
});
