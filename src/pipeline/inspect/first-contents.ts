/** What the first record under each id says, and how many later ones say something else. */
export class FirstContents {
  readonly #contents = new Map<string, string>();
  conflicts = 0;

  add(id: string, content: string): void {
    const first = this.#contents.get(id);
    if (first === undefined) this.#contents.set(id, content);
    else if (first !== content) this.conflicts++;
  }
}
