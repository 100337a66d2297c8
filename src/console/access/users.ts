import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { readDocument } from '../../kit/config/json-document.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { editAlone } from '../../kit/files/edit-lock.ts';
import { realEffects, rewriteFile } from '../../kit/files/effects.ts';

/**
 * A viewer reads pages; an analyst may also ask by MCP, which reads all of the analysts' file; an operator may also
 * start actions. Each may do what those before it may.
 */
export const roles = ['viewer', 'analyst', 'operator'] as const;
export type Role = (typeof roles)[number];

/** Returns whether a role may do what another one is needed for. */
export function isAllowed(role: Role, required: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(required);
}

/** A user, as pages and the audit log name them. */
export interface ConsoleUser {
  name: string;
  role: Role;
}

/** A user's name from any source, without characters that a log or a header has to escape. */
export const userName = z
  .string()
  .regex(/^[\w.@+-]{1,64}$/, { error: 'has other characters than letters, digits and . _ @ + -, or more than 64' });

const storedUser = z.strictObject({
  name: userName,
  role: z.enum(roles),
  /** The digest of the token, which is not stored itself. */
  token_sha256: z.string().regex(/^[\da-f]{64}$/, { error: 'is not a SHA-256 in hexadecimal digits' }),
});

const usersSchema = z
  .strictObject({ users: z.array(storedUser) })
  .refine(({ users }) => new Set(users.map(({ name }) => name)).size === users.length, {
    error: 'two users have the same name',
  });

export type StoredUser = z.output<typeof storedUser>;

const tokenBytes = 32;

export function secretDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

/** A random secret for a user, a link or a cookie. */
export function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Reads `console/users.json`; a missing file means no users. Throws `UsageError` naming file and key. */
export function readUsers(file: string): StoredUser[] {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return readDocument(usersSchema, text, file, '; nothing was changed').users;
}

/**
 * Adds a user and returns the token, which is shown only here. Throws `UsageError` where the name is taken or not
 * valid, or the file is broken.
 */
export async function addUser(file: string, { name, role }: ConsoleUser): Promise<string> {
  if (!userName.safeParse(name).success)
    throw new UsageError(`${name} is not a valid name: use 1 to 64 letters, digits and . _ @ + -`);
  const token = newToken();
  await editUsers(file, (users) => {
    if (users.some((user) => user.name === name))
      throw new UsageError(
        `there is a user ${name} already: choose another name, or \`offerline console remove ${name}\``,
      );
    return [...users, { name, role, token_sha256: secretDigest(token) }];
  });
  return token;
}

/** Removes a user. Throws `UsageError` where there is no such user. */
export function removeUser(file: string, name: string): Promise<void> {
  return editUsers(file, (users) => {
    const others = users.filter((user) => user.name !== name);
    if (others.length === users.length)
      throw new UsageError(`there is no user ${name}; \`offerline console users\` lists all users`);
    return others;
  });
}

/** The file stays its owner's, whose console follows it. */
async function editUsers(file: string, edit: (users: StoredUser[]) => StoredUser[]): Promise<void> {
  await editAlone(file, { name: "list of the console's users", command: 'console' }, async () => {
    const users = edit(readUsers(file));
    await rewriteFile(file, `${JSON.stringify({ users }, null, 1)}\n`, 'console users', realEffects.files, 0o600);
  });
}
