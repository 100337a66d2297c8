import { choice, pattern, required, text } from '../http/query.ts';

/** As long as a click's `user_id` may be: a longer one could never be credited. Characters. */
const maxUserIdCharacters = 256;

export const parametersA = {
  userId: required(text('user_id', 'The publisher’s user', maxUserIdCharacters)),
  format: required(choice('format', 'Placement format', ['offerwall', 'banners', 'surveys', 'PTC'])),
  clickId: required(
    pattern('click_id', 'The click', '^[ -~]{1,128}$', 'click_id has 1 to 128 printable ASCII characters'),
  ),
};
