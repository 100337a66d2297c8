/** Returns the word that differs least from a written one: by at most a third of its letters, and two at least. */
export function nearestWord(written: string, words: Iterable<string>): string | undefined {
  const most = Math.max(2, Math.floor(written.length / 3));
  let nearest: { word: string; edits: number } | undefined;
  for (const word of words) {
    if (Math.abs(word.length - written.length) > most) continue;
    const edits = editsBetween(written.toLowerCase(), word.toLowerCase());
    if (edits <= most && edits < (nearest?.edits ?? Infinity)) nearest = { word, edits };
  }
  return nearest?.word;
}

/** Returns how many letters have to be put in, left out or replaced to make one text of the other. */
function editsBetween(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (before[column - 1] as number) + (one[row - 1] === other[column - 1] ? 0 : 1);
      now.push(Math.min(replaced, (before[column] as number) + 1, (now[column - 1] as number) + 1));
    }
    before = now;
  }
  return before[other.length] as number;
}
