/** Characters that a click's `user_id` may have: a longer one could never be credited. */
const maxCharacters = 256;

/** Form of a publisher's user in links: a regular expression with `u`, as in JSON Schema. */
export const userIdForm = String.raw`^[^\u0000-\u001f\u007f-\u009f]{1,${maxCharacters}}$`;

/** The form in words. */
export const userIdRule = `user_id has 1 to ${maxCharacters} characters and no control characters`;
