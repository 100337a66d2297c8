import { publicAddress } from '../kit/text/public-address.ts';

/** A picture by its published name, and its address at the advertiser. */
export interface FeedPicture {
  name: string;
  /** An http or https address without a user name or a password. */
  address: string;
}

/** Returns the picture of an offer; undefined where it has no public address. */
export function pictureOf({
  image_name: name,
  image_source,
}: {
  image_name: string;
  image_source: string;
}): FeedPicture | undefined {
  const address = webAddress(image_source);
  return name === '' || address === undefined ? undefined : { name, address };
}

/** Returns the address that a client can follow; undefined where there is none on the web. */
function webAddress(imageSource: string): string | undefined {
  const address = publicAddress(imageSource);
  return address !== undefined && /^https?:$/.test(address.protocol) ? address.href : undefined;
}
