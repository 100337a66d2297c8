/** An object's members as JSON text without the braces, to be put together with others. */
export function members(object: Record<string, unknown>): string {
  return JSON.stringify(object).slice(1, -1);
}
