import { snapshotHeaders } from '../http/response.ts';
import type { HttpResponse, SnapshotIdentity } from '../http/response.ts';
import { cacheControl } from '../http/caching.ts';
import { entityTag } from '../pages/prepared-page.ts';
import type { Variant } from '../http/variant.ts';

const folder = '/asset/images/offers/';

/** Under each base address, so that `{base_url}` of every variant leads to them. */
export const pictureFolders: readonly string[] = ['', '/a', '/b', '/c'].map((base) => base + folder);

/** Whether a path is that of a picture, there or not. */
export function isPicture(path: string): boolean {
  return pictureFolders.some((start) => path.startsWith(start) && /^[^/]+$/.test(path.slice(start.length)));
}

/** Sends a client to where the advertiser has the picture. */
export function pictureResponse(address: string, variant: Variant, snapshot: SnapshotIdentity): HttpResponse {
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
