/** Returns a value quoted as one argument of a shell. */
export function shellWord(text: string): string {
  if (/^[\w.][\w.-]*$/.test(text)) return text;
  return `${text.startsWith('-') ? '-- ' : ''}'${text.replaceAll("'", String.raw`'\''`)}'`;
}
