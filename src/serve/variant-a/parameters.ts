import { userIdForm, userIdRule } from '../../kit/vocabulary/user-id.ts';
import { formats } from '../../kit/vocabulary/values.ts';
import { choice, pattern } from '../http/parameters.ts';

/** A user that the tracker would refuse in a link is refused before there is one. */
export const userIdParameter = pattern('user_id', 'The publisher’s user', userIdForm, userIdRule);
export const formatParameter = choice('format', 'Placement format', formats);
export const clickIdParameter = pattern(
  'click_id',
  'The click',
  '^[ -~]{1,128}$',
  'click_id has 1 to 128 printable ASCII characters',
);
