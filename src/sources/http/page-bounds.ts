import type { AnswerFileFormat } from '../connectors/declaration.ts';

/** Values of a page, lists and objects included: in memory they take many times their text. */
const maxValues = 1_000_000;
const maxDepth = 64;

const [quote, comma, backslash, openList, closeList, openObject, closeObject] = Buffer.from('",\\[]{}');
/** Characters before or behind each value of formats without nesting. */
const betweenValues = { csv: new Set(Buffer.from(',;\t|\n')), xml: new Set(Buffer.from('<=')) };

/**
 * Returns the bound of a page that its text exceeds, before it is parsed: a few kilobytes of gzip may unpack to twenty
 * million empty objects, which take gigabytes. Only characters are counted: quotes, braces, commas, of CSV all
 * delimiters, of XML tags and attributes. Bytes would not do: in UTF-16, that of a quote is part of other characters.
 */
export function pageExcess(text: string, format: AnswerFileFormat['type']): string | undefined {
  const between = format === 'json' ? undefined : betweenValues[format];
  const isJson = between === undefined;
  const hasQuotes = format !== 'xml';
  let [values, depth] = [1, 0];
  let [isQuoted, isEscaped] = [false, false];
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (isEscaped) isEscaped = false;
    else if (character === quote && hasQuotes) isQuoted = !isQuoted;
    else if (isQuoted) isEscaped = isJson && character === backslash;
    else if (isJson ? character === comma : between.has(character)) values++;
    else if (isJson && (character === openList || character === openObject)) {
      values++;
      depth++;
    } else if (isJson && (character === closeList || character === closeObject)) depth--;
    if (depth > maxDepth) return `more than ${maxDepth} lists and objects within one another`;
    if (values > maxValues) return `more than ${maxValues} values: ask for smaller pages, or for fewer fields`;
  }
  return undefined;
}
