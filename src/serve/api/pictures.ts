import type { IncomingHttpHeaders } from 'node:http';
import type { MirroredPicture } from '../../pictures/mirrored-pictures.ts';
import { snapshotHeaders } from '../http/response.ts';
import type { HttpResponse, SnapshotIdentity } from '../http/response.ts';
import { cacheControl } from '../http/caching.ts';
import { entityTag, isAmong } from '../../kit/http/entity-tag.ts';
import type { Variant } from '../http/variant.ts';

/** On the bare host. */
export const pictureFolder = '/asset/images/offers/';

/** Under each base address, so that `{base_url}` of every variant leads to them. */
export const pictureFolders: readonly string[] = ['', '/a', '/b', '/c'].map((base) => base + pictureFolder);

/** Returns whether a path is that of a picture, there or not. */
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

/** Policy for anyone who opens a picture by its address and gets a page of it: it runs nothing and loads nothing. */
export const pictureSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/**
 * The mirrored picture, or a 304 where the client has these bytes already. It says nothing of the snapshot, whose next
 * one would have the same picture.
 */
export function mirroredResponse({ bytes, type, sha256 }: MirroredPicture, request: IncomingHttpHeaders): HttpResponse {
  const etag = `"${sha256}"`;
  const headers = {
    ...snapshotHeaders(undefined),
    'content-type': type,
    'cache-control': cacheControl.versioned,
    etag,
    'x-content-type-options': 'nosniff',
    'content-security-policy': pictureSecurityPolicy,
  };
  return isAmong(request['if-none-match'], etag)
    ? { status: 304, headers, body: undefined }
    : { status: 200, headers, body: bytes };
}
