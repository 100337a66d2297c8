/** Devices of an app by the store that its page is in; none for other pages. For networks that name no system. */
export function storeDevices(previewUrl: string | undefined): string[] {
  const url = URL.parse(previewUrl ?? '');
  if (url === null) return [];
  if (url.protocol === 'market:' || url.hostname === 'play.google.com') return ['android'];
  const isApple = /^(?:itms(?:-appss?)?:)$/.test(url.protocol) || /^(?:apps|itunes)\.apple\.com$/.test(url.hostname);
  return isApple ? ['ios'] : [];
}
