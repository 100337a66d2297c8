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
  /** Undefined where it tells none that offers know. */
  device: Device | undefined;
  /** What it may as well be: an iPad describes itself as a Mac, and an Android that shows a desktop site as a Linux. */
  mayBe: Device | undefined;
  /** Such as `Android`; empty where unknown. */
  system: string;
  /** The system's version where it can be believed; empty where not. */
  version: string;
}

/** More of an agent's text tells nothing more. Characters. */
const longestText = 512;
/** To take an agent's text apart takes as long as all else of a click; a network sees some thousands of them. */
const agentsKept = 20_000;

/** The iOS that Safari says for ever since version 26 came after 18. */
const frozenIos = [18, 6] as const;

/** Takes agents' texts apart, each once while it is seen again. */
export class Agents {
  readonly #known = new LRUCache<string, Agent>({ max: agentsKept });

  /** `userAgent`: the header, empty where there is none. */
  read(userAgent: string): Agent {
    const text = userAgent.length > longestText ? userAgent.slice(0, longestText) : userAgent;
    let agent = this.#known.get(text);
    if (agent === undefined) this.#known.set(text, (agent = readAgent(text)));
    return agent;
  }
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

/** Consoles, televisions and telephones with keys. Some say that they are a Windows, a Linux or an Android. */
const ofNoKnownDevice =
  /\bKAIOS\/|\bXbox|\bCrKey\b|HbbTV\/|\bSmart-?TV\b|\bVIDAA\b|\bWindows (?:CE|Mobile)\b|\bWPDesktop\b|\bPalmSource\b/i;

/** Its own words for itself, before a model that is named after another system: `HiPad X`, `TechniPhone 5`. */
const android =
  /\(Android\b|\bLinux;.{0,30}(?<!like )\bAndroid\b|\bLinux; U; Adr (\d[\d.]*)|\bFBAN\/(?:FB4A|EMA|Orca-Android)\b/;

/** Browsers that makers of Androids ship with them. To show a desktop site they say that they are a Linux or a Mac. */
const shippedWithAndroids = /\bSilk\/|(?:Samsung|Oculus|Pico|Miui|Huawei|HeyTap|Vivo)Browser\//;

function systemOf(text: string): { name: string; version: string } {
  const isAndroid = android.exec(text);
  if (isAndroid !== null)
    return { name: 'Android', version: isAndroid[1] ?? /\bAndroid[ /-](\d+(?:\.\d+)*)/.exec(text)?.[1] ?? '' };
  const { name = '', version = '' } = bowser.getParser(text).getOS();
  const isInDesktopMode = (name === 'Linux' || name === 'macOS') && shippedWithAndroids.test(text);
  return isInDesktopMode ? { name: 'Android', version: '' } : { name, version };
}

/** Chrome says `Android 10; K` of every telephone, and adds `; wv` where it shows pages within an app. */
function androidVersion(text: string, version: string): string {
  return /Android 10; K[);]/.test(text) ? '' : version;
}

/** From 26 on only Safari's own version tells; without that, what is frozen may be anything newer. */
function iosVersion(text: string, version: string): string {
  const safari = /\bVersion\/(\d+(?:\.\d+)*)/.exec(text)?.[1];
  if (safari !== undefined && Number.parseInt(safari, 10) >= 26) return safari;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isFrozen = major === frozenIos[0] && minor >= frozenIos[1];
  return isFrozen && safari === undefined ? '' : version;
}

/** Of an iPad Safari says that it is a Mac, and so do apps that show pages, without the word Safari. */
function isMacSafari(text: string): boolean {
  return text.includes('AppleWebKit/') && !/Chrome\/|Chromium\/|Edg\/|OPR\/|Firefox\//.test(text);
}

/**
 * Whether a version is lower than the lowest that is asked for. Part by part, missing ones count as 0; what is no
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
