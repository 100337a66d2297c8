/** Values of the same thing in two snapshots; null where one lacks it. */
export interface Pair<Value = string | number> {
  before: Value | null;
  after: Value | null;
}

/** Returns what differs of two maps, in the order of the first and then of the second. */
export function differingPairs<Value extends string | number>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
): [key: string, pair: Pair<Value>][] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((key): [string, Pair<Value>] => [key, { before: before.get(key) ?? null, after: after.get(key) ?? null }])
    .filter(([, pair]) => pair.before !== pair.after);
}
