import { snapshotHeaders } from './answer.ts';
import type { Answer, SnapshotIdentity } from './answer.ts';
import { cacheControl } from './caching.ts';
import { entityTag } from './prepared-page.ts';
import type { Variant } from './variant.ts';

const folder = '/asset/images/offers/';

/** Under each base address, so that `{base_url}` of every variant leads to them. */
export const pictureFolders: readonly string[] = ['', '/a', '/b', '/c'].map((base) => base + folder);

/** Whether a path is that of a picture, there or not. */
export function isPicture(path: string): boolean {
  return pictureFolders.some((start) => path.startsWith(start) && /^[^/]+$/.test(path.slice(start.length)));
}

/** The address that a picture is at, as a client can follow it; undefined where it has none on the web. */
export function webAddress(imageSource: string): string | undefined {
  const address = URL.parse(imageSource);
  if (address === null || !/^https?:$/.test(address.protocol)) return undefined;
  // Whoever put a password into an address did not mean it for the public.
  return address.username === '' && address.password === '' ? address.href : undefined;
}

/** Sends a client to where the advertiser has the picture. */
export function pictureAnswer(address: string, variant: Variant, snapshot: SnapshotIdentity): Answer {
  const body = Buffer.from(JSON.stringify({ location: address }));
  return {
    status: 302,
    headers: {
      ...snapshotHeaders(snapshot, variant),
      'cache-control': cacheControl.page,
      etag: `"${entityTag(body)}"`,
      location: address,
    },
    body,
  };
}
