import { hash, type Hash } from 'node:crypto';

/** Length of a tag: 160 bits of a digest identify the content. */
const tagLength = 27;

/** Tag of this content. */
export function entityTag(content: Buffer | string): string {
  return hash('sha256', content, 'base64url').slice(0, tagLength);
}

/** Tag of all that a SHA-256 has taken in. */
export function tagOf(digest: Hash): string {
  return digest.digest('base64url').slice(0, tagLength);
}

/** Returns whether an `If-None-Match` names a tag. Tags are compared without the `W/` that proxies put before them. */
export function isAmong(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  if (condition.trim() === '*') return true;
  return [...condition.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}
