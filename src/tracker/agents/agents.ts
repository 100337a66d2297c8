import { isUtf8 } from 'node:buffer';
import bowser from 'bowser';
import { LRUCache } from 'lru-cache';
import type { Device } from '../../kit/vocabulary/values.ts';
import { isRobot } from './robots.ts';

/** A browser by its own description, as far as that can be believed. */
export interface Agent {
  /** The description as it is kept: cut to what makes sense of one. */
  text: string;
  /** The user agent identifies itself as a bot. */
  isBot: boolean;
  /** Undefined where the description names none that offers know. */
  device: Device | undefined;
  /**
   * Another possible device: an iPad describes itself as a Mac, and an Android that shows a desktop site as a Linux.
   */
  mayBe: Device | undefined;
  /** Such as `Android`; empty where unknown. */
  system: string;
  /** The system's version where it can be believed; empty where not. */
  version: string;
}

/** The rest of a longer text has no meaning. Characters. */
const maxText = 512;
/** Parsing a text takes as long as the rest of a click; a network sees some thousands of different ones. */
const maxKnown = 20_000;

/** The last iOS version that Safari writes: also iOS 26, which followed 18, has it. */
const frozenIos = [18, 6] as const;

/** Parses agents' texts, and remembers those that are seen often. */
export class Agents {
  readonly #known = new LRUCache<string, Agent>({ max: maxKnown });

  /** `header`: a character for each byte, as Node gives headers; empty where there is none. */
  read(header: string): Agent {
    const sent = textOf(header);
    const text = sent.length > maxText ? sent.slice(0, maxText).toWellFormed() : sent;
    let agent = this.#known.get(text);
    if (agent === undefined) this.#known.set(text, (agent = readAgent(text)));
    return agent;
  }
}

/** Decodes UTF-8, in which some makers write the names of their models. */
function textOf(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : header;
}

function readAgent(text: string): Agent {
  const unknown = { text, isBot: false, device: undefined, mayBe: undefined, system: '', version: '' };
  if (text === '') return unknown;
  if (isRobot(text)) return { ...unknown, isBot: true };
  if (ofNoKnownDevice.test(text)) return unknown;
  const { name, version } = systemOf(text);
  switch (name) {
    case 'Android':
      return { ...unknown, device: 'android', system: name, version: androidVersion(text, version) };
    case 'iOS':
      return { ...unknown, device: 'ios', system: name, version: iosVersion(text, version) };
    case 'macOS':
      return { ...unknown, device: 'desktop', mayBe: isMacSafari(text) ? 'ios' : undefined, system: name };
    case 'Linux':
      // Without the window system of desktops it is a television, or a telephone of another kind.
      if (!/\b(?:X11|Wayland);/.test(text)) return { ...unknown, system: name };
      return { ...unknown, device: 'desktop', mayBe: 'android', system: name };
    case 'Windows':
    case 'Chrome OS':
      return { ...unknown, device: 'desktop', system: name };
    default:
      return { ...unknown, system: name };
  }
}

/** Consoles, televisions and telephones with keys. Some name Windows, Linux or Android as their system. */
const ofNoKnownDevice =
  /\bKAIOS\/|\bXbox|\bCrKey\b|HbbTV\/|\bSmart-?TV\b|\bVIDAA\b|\bWindows (?:CE|Mobile)\b|\bWPDesktop\b|\bPalmSource\b/i;

/** Matched before models that are named after another system: `HiPad X`, `TechniPhone 5`. */
const android =
  /\(Android\b|\bLinux;.{0,30}(?<!like )\bAndroid\b|\bLinux; U; Adr (\d[\d.]*)|\bFBAN\/(?:FB4A|EMA|Orca-Android)\b/;

/** Browsers that makers of Androids ship. To show a desktop site they name Linux or macOS as their system. */
const shippedWithAndroids = /\bSilk\/|(?:Samsung|Oculus|Pico|Miui|Huawei|HeyTap|Vivo)Browser\//;

function systemOf(text: string): { name: string; version: string } {
  const isAndroid = android.exec(text);
  if (isAndroid !== null)
    return { name: 'Android', version: isAndroid[1] ?? /\bAndroid[ /-](\d+(?:\.\d+)*)/.exec(text)?.[1] ?? '' };
  const { name = '', version = '' } = bowser.getParser(text).getOS();
  const isInDesktopMode = (name === 'Linux' || name === 'macOS') && shippedWithAndroids.test(text);
  return isInDesktopMode ? { name: 'Android', version: '' } : { name, version };
}

/** Chrome writes `Android 10; K` for every telephone, and adds `; wv` where it shows pages within an app. */
function androidVersion(text: string, version: string): string {
  return /Android 10; K[);]/.test(text) ? '' : version;
}

/** The version of iOS. From 26 on only Safari's own version shows it; without that, 18.6 may be anything newer. */
function iosVersion(text: string, version: string): string {
  const safari = /\bVersion\/(\d+(?:\.\d+)*)/.exec(text)?.[1];
  if (safari !== undefined && Number.parseInt(safari, 10) >= 26) return safari;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isFrozen = major === frozenIos[0] && minor >= frozenIos[1];
  return isFrozen && safari === undefined ? '' : version;
}

/** Returns true for Safari of a Mac, which an iPad's also claims to be, and for apps that show pages with it. */
function isMacSafari(text: string): boolean {
  return text.includes('AppleWebKit/') && !/Chrome\/|Chromium\/|Edg\/|OPR\/|Firefox\//.test(text);
}

/**
 * Returns true for a version that is lower than `lowest`, part by part; missing parts count as 0. A text that is no
 * version is never lower.
 */
export function isOlder(version: string, lowest: string): boolean {
  const [have, want] = [partsOf(version), partsOf(lowest)];
  if (have === undefined || want === undefined) return false;
  for (let index = 0; index < want.length; index++) {
    const difference = (have[index] ?? 0) - (want[index] as number);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function partsOf(version: string): number[] | undefined {
  const found = /^\s*v?(\d{1,5}(?:\.\d{1,5})*)/i.exec(version)?.[1];
  return found?.split('.').map(Number);
}
