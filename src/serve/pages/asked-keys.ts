/** Two halves of this size; the older is forgotten when the newer is full. */
const keysPerHalf = 4096;
/** Longer keys are not remembered: whoever makes them up must not fill the memory. Characters. */
const longestKey = 400;

/** Which pages were asked for lately: one that nobody has asked for before is not worth keeping yet. */
export class AskedKeys {
  #newer = new Set<string>();
  #older = new Set<string>();

  /** Whether the key was asked for lately; from now on it was. */
  isAskedAgain(key: string): boolean {
    if (key.length > longestKey) return false;
    const known = this.#newer.has(key) || this.#older.has(key);
    this.#newer.add(key);
    if (this.#newer.size >= keysPerHalf) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    return known;
  }
}
