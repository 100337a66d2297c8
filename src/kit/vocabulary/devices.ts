import type { Device } from './values.ts';

const meanings: Record<string, readonly Device[]> = {
  android: ['android'],
  'android phone': ['android'],
  'android tablet': ['android'],
  'android mobile': ['android'],
  'google play': ['android'],
  ios: ['ios'],
  iphone: ['ios'],
  ipad: ['ios'],
  ipod: ['ios'],
  'ipod touch': ['ios'],
  ipados: ['ios'],
  apple: ['ios'],
  'ios phone': ['ios'],
  'ios tablet': ['ios'],
  'ios mobile': ['ios'],
  desktop: ['desktop'],
  pc: ['desktop'],
  web: ['desktop'],
  computer: ['desktop'],
  laptop: ['desktop'],
  windows: ['desktop'],
  mac: ['desktop'],
  macos: ['desktop'],
  'mac os': ['desktop'],
  osx: ['desktop'],
  'os x': ['desktop'],
  'mac os x': ['desktop'],
  linux: ['desktop'],
  chromeos: ['desktop'],
  'chrome os': ['desktop'],
  mobile: ['android', 'ios'],
  phone: ['android', 'ios'],
  smartphone: ['android', 'ios'],
  tablet: ['android', 'ios'],
};

const meaningsByName = new Map(Object.entries(meanings));
const everyDevice = new Set(['all', 'all devices', 'any', 'every', '*']);

/** Reads a catalog's word for devices: some of ours, `all`, or undefined for an unknown word. */
export function readDevice(text: string): readonly Device[] | 'all' | undefined {
  const name = text
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();
  return everyDevice.has(name) ? 'all' : meaningsByName.get(name);
}
