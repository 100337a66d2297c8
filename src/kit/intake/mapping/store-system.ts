/** Returns the system of an app by the address of its page in a store; undefined for every other address. */
export function storeSystem(address: string): 'android' | 'ios' | undefined {
  const url = URL.parse(address.trim());
  if (url === null) return undefined;
  if (url.protocol === 'market:' || url.hostname === 'play.google.com') return 'android';
  const isApple = /^(?:itms(?:-appss?)?:)$/.test(url.protocol) || /^(?:apps|itunes)\.apple\.com$/.test(url.hostname);
  return isApple ? 'ios' : undefined;
}
