/**
 * Characters that move the cursor, colour, or make one line look like another: C0, DEL, C1, marks of direction, ends of
 * lines.
 */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const unseenButLines = new RegExp(`(?!\n)${unseen.source}`, 'gu');

/** Makes control characters of a foreign text visible, on one line: as ␛ or `\u009b`. */
export function visibleText(text: string): string {
  return text.replaceAll(unseen, pictureOf);
}

/** Makes control characters visible in a text of several lines. */
export function visibleLines(text: string): string {
  return text.replaceAll(unseenButLines, pictureOf);
}

/** Escapes control characters within JSON for a terminal; the JSON means the same. */
export function visibleJson(text: string): string {
  // Nearly every log line is ASCII, of which JSON writes all but DEL as escapes itself.
  if (Buffer.byteLength(text) === text.length && !text.includes('\x7f')) return text;
  return text.replaceAll(unseenButLines, escapeOf);
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : escapeOf(character);
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
