/** A text of JSON up to its end, or to what may not be in it. */
// oxlint-disable-next-line no-control-regex -- JSON forbids them within texts
const textStart = /^"(?:[^"\\\0-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/;

/** What people write in place of JSON, by what the text goes on with. */
const slips: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'the text ends before its brackets are closed'],
  [/^(?:\/\/|\/\*|#)/, 'JSON has no comments'],
  [/^['‘’“”„«»`]/, 'keys and texts are between plain double quotes'],
  [/^(?:True|False|None|NaN|-?Infinity|undefined)\b/, 'the words without quotes are true, false and null'],
  [/^[\p{L}_$]/u, 'keys and texts are between double quotes'],
  [/^[+.]/, 'a number begins with a digit or a minus'],
  [/^[{[]/, 'a comma is missing before it, or the text has ended'],
  // oxlint-disable-next-line no-control-regex -- this is what UTF-16 looks like
  [/^\0/, 'a NUL is no JSON; save the file as UTF-8'],
  [/^[\s\u0085\u200b-\u200f\u2060]/, 'this blank is none of JSON, as one copied from a page: type it anew'],
];

/** Says what is probably wrong at the place where a text stops being JSON; shows nothing of the text. */
export function jsonMistake(text: string, brokenAt: number): string | undefined {
  if (text.trim() === '') return 'it is empty';
  const before = text.slice(0, brokenAt).trimEnd();
  const rest = text.slice(brokenAt);
  if (before.endsWith(',') && /^[}\]]/.test(rest)) return 'the comma before it is one too many';
  if (/\d,$/.test(before) && /^\d/.test(rest)) return 'a number has a decimal point';
  const start = textStart.exec(rest)?.[0];
  if (start === undefined) return slips.find(([slip]) => slip.test(rest))?.[1];
  if (rest[start.length] === '"') return 'a comma or a colon is missing before it';
  return rest[start.length] === '\\' ? 'a backslash in a text is written twice' : 'this text has no end in its line';
}
