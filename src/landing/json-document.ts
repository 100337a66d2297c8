/**
 * Cuts a JSON document into the texts of its records, untouched but for line breaks between tokens, so that they can
 * be written as NDJSON and money keeps every digit (a parser's numbers are binary).
 * The document is an array of records, or an object in which exactly one value is an array; else a reason is returned.
 */
export function splitJsonDocument(text: string): { records: string[] } | { reason: string; detail: string } {
  try {
    JSON.parse(text);
  } catch {
    return { reason: 'broken_json', detail: 'the document is not valid JSON' };
  }
  const arrays = arraysAtTheTop(text);
  if (arrays.length !== 1) {
    return { reason: 'no_single_array', detail: `the document holds ${arrays.length} arrays at its top, not exactly one` };
  }
  return { records: arrays[0] as string[] };
}

/** The elements' texts of the document's array, or of each array directly in its object. Expects valid JSON. */
function arraysAtTheTop(text: string): string[][] {
  const arrays: string[][] = [];
  const arrayDepth = text.trimStart().startsWith('[') ? 1 : 2;
  let open: string[] | undefined;
  let depth = 0;
  let start = 0;
  const closeElement = (end: number) => {
    const element = text.slice(start, end).replaceAll(/[\n\r]/g, ' ').trim();
    if (element !== '') open?.push(element);
    start = end + 1;
  };
  for (let at = 0; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"':
        at = endOfString(text, at);
        break;
      case '[':
      case '{':
        depth++;
        if (depth === arrayDepth && text[at] === '[') {
          open = [];
          arrays.push(open);
          start = at + 1;
        }
        break;
      case ']':
      case '}':
        if (depth === arrayDepth && open) {
          closeElement(at);
          open = undefined;
        }
        depth--;
        break;
      case ',':
        if (depth === arrayDepth && open) closeElement(at);
        break;
    }
  }
  return arrays;
}

/** The index of the quote that ends the string beginning at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
