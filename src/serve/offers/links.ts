import { percentEncoded } from '../../kit/text/percent-encoded.ts';

/**
 * The addresses that offers link to, ready to stand inside a JSON string. Each is the `{base_url}` of its links
 * unchanged: the tracker knows nothing of our variants, and pictures are served on the bare host.
 */
export interface Links {
  tracking: string;
  pictures: string;
}

export function linksOf(trackingUrl: string, publicUrl: string): Links {
  return { tracking: baseOf(trackingUrl), pictures: `${baseOf(publicUrl)}/asset/images/offers/` };
}

/** Returns the address of the picture of a published name; empty for an offer that has none. */
export function pictureAddress({ pictures }: Links, name: string): string {
  return name === '' ? '' : pictures + percentEncoded(name);
}

/** The path of an offer's tracking link up to the user. */
export function pathBeforeUser(offerId: number): string {
  return `/redirect/manual-offer/${offerId}/user/`;
}

/** The path of an offer's tracking link up to the site's key; `user` is the placeholder that the publisher replaces. */
export function trackingPath(offerId: number, user: '{user_id}' | '[USER_ID]'): string {
  return `${pathBeforeUser(offerId)}${user}/site/`;
}

function baseOf(url: string): string {
  return JSON.stringify(url.replace(/\/+$/, '')).slice(1, -1);
}
