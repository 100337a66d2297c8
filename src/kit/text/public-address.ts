/** Returns an address; undefined for what is none, and for one with a user or a password, which are not public. */
export function publicAddress(text: string): URL | undefined {
  const address = URL.parse(text);
  return address === null || address.username !== '' || address.password !== '' ? undefined : address;
}
