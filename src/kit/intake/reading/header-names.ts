/** Returns a name without what people write differently: case, blanks, dashes, underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]+/g, '');
}

/**
 * Returns header names with those that are spellings of a known name replaced by it; the others stay as written,
 * without blanks around.
 */
export function matchNames(names: readonly string[], known: readonly string[]): string[] {
  const byPlainName = new Map(known.map((name) => [plainName(name), name]));
  return names.map((name) => byPlainName.get(plainName(name)) ?? name.trim());
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
