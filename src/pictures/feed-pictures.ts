/** A picture under the name that it is published by, and where the advertiser has it. */
export interface FeedPicture {
  name: string;
  /** Of the web, without a user name or a password. */
  address: string;
}

/** The picture of an offer; undefined where it has none that the public could be sent to. */
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

/** The address that a picture is at, as a client can follow it; undefined where it has none on the web. */
function webAddress(imageSource: string): string | undefined {
  const address = URL.parse(imageSource);
  if (address === null || !/^https?:$/.test(address.protocol)) return undefined;
  // Whoever put a password into an address did not mean it for the public.
  return address.username === '' && address.password === '' ? address.href : undefined;
}
