import { hash, timingSafeEqual } from 'node:crypto';

/** A secret in a form that takes the same time to compare, whatever it is and however long. */
export type PaddedSecret = Buffer;

/** Of the padded form: up to this place the secret's UTF-8, then how long that is. Bytes. */
const lengthAt = 252;
const size = 256;

/** Lengths that no secret has. */
const byDigest = 0xffffffff;
const none = 0xfffffffe;

/** Stands where there is no secret: equal to none. */
export const noSecret: PaddedSecret = Buffer.alloc(size);
noSecret.writeUInt32LE(none, lengthAt);

export function padded(secret: string): PaddedSecret {
  return pad(secret, Buffer.alloc(size));
}

const presented = Buffer.alloc(size);

/** Whether somebody presented the secret. */
export function isSecret(text: string, secret: PaddedSecret): boolean {
  return timingSafeEqual(pad(text, presented.fill(0)), secret);
}

/** Fills zeros with a secret; one that is longer than there is room for stands there as its digest. */
function pad(secret: string, bytes: Buffer): Buffer {
  const length = Buffer.byteLength(secret);
  const isLong = length > lengthAt;
  bytes.write(isLong ? hash('sha512', secret) : secret);
  bytes.writeUInt32LE(isLong ? byDigest : length, lengthAt);
  return bytes;
}
