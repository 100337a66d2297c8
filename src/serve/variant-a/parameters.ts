import { userIdForm, userIdRule } from '../../kit/vocabulary/user-id.ts';
import { choice, pattern } from '../http/parameters.ts';

export const formats = ['offerwall', 'banners', 'surveys', 'PTC'] as const;

/** What the tracker would refuse in a link is refused before there is one. */
export const userId = pattern('user_id', 'The publisher’s user', userIdForm, userIdRule);
export const format = choice('format', 'Placement format', formats);
export const clickId = pattern(
  'click_id',
  'The click',
  '^[ -~]{1,128}$',
  'click_id has 1 to 128 printable ASCII characters',
);
