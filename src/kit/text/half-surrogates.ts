/**
 * SQL condition: the JSON text may have half of a surrogate pair, such as `\ud83d`, the result of cutting a text within
 * an emoji.
 */
export function hasHalfSurrogates(json: string): string {
  return `regexp_matches(${json}, '\\\\u[dD][89a-fA-F]')`;
}

/**
 * SQL for a JSON text with U+FFFD in place of each half, since the engine takes the whole text for broken. The text is
 * split into whole pairs, escapes and what is between them, so that nothing is mistaken for an escape.
 */
export function withoutHalfSurrogates(json: string): string {
  const [high, low] = ['\\\\u[dD][89abAB][0-9a-fA-F]{2}', '\\\\u[dD][c-fC-F][0-9a-fA-F]{2}'];
  const parts = `regexp_extract_all(${json}, '${high}${low}|\\\\u[0-9a-fA-F]{4}|\\\\.|[^\\\\]+|\\\\')`;
  return `array_to_string(list_transform(${parts}, lambda part: CASE WHEN regexp_full_match(part, '${high}|${low}') THEN '\\ufffd' ELSE part END), '')`;
}
