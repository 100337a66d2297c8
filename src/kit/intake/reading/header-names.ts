/** Returns a name without what people write differently: case, blanks, dashes, underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]+/g, '');
}

/**
 * Returns header names with those that are spellings of a known name replaced by it; the others stay as written,
 * without blanks around. `exactFirst`: a name that is known as it is written comes before other spellings of it, and
 * known names that differ by their spelling alone are known as they are written only.
 */
export function matchNames(names: readonly string[], known: readonly string[], exactFirst = false): string[] {
  const byPlainName = new Map(known.map((name) => [plainName(name), name]));
  if (!exactFirst) return names.map((name) => byPlainName.get(plainName(name)) ?? name.trim());
  const written = names.map((name) => name.trim());
  const isTaken = (name: string) =>
    written.includes(name) || known.some((other) => other !== name && plainName(other) === plainName(name));
  const free = new Map([...byPlainName].filter(([, name]) => !isTaken(name)));
  return written.map((name) => (known.includes(name) ? name : (free.get(plainName(name)) ?? name)));
}

/** Returns two names as they are written that come to the same one. */
export function sameNames(written: readonly string[], names: readonly string[]): [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const as = written[index] ?? name;
    const before = seen.get(name);
    if (before !== undefined) return [before, as];
    seen.set(name, as);
  }
  return undefined;
}
