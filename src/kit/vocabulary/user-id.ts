/** As long as a click's `user_id` may be: a longer one could never be credited. Characters. */
const longest = 256;

/** What links can carry as the publisher's user: a regular expression with `u`, as JSON Schema has them. */
export const userIdForm = String.raw`^[^\u0000-\u001f\u007f-\u009f]{1,${longest}}$`;

/** The same in words. */
export const userIdRule = `user_id has 1 to ${longest} characters and no control characters`;
