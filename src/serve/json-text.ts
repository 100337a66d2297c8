import type { LocalizedText } from '../feed/feed-document.ts';

/** An object's members as JSON text without the braces, to be put together with others. */
export function members(object: Record<string, unknown>): string {
  return JSON.stringify(object).slice(1, -1);
}

/** The text that is served where one language is asked for: English, else the first one. */
export function servedText(texts: LocalizedText): string {
  return texts['en'] ?? Object.values(texts)[0] ?? '';
}
