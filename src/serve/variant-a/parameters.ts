import { userIdForm, userIdRule } from '../../kit/vocabulary/user-id.ts';
import { choice, pattern, required } from '../../kit/http/query.ts';

export const parametersA = {
  // What the tracker would refuse in a link is refused before there is one.
  userId: required(pattern('user_id', 'The publisher’s user', userIdForm, userIdRule)),
  format: required(choice('format', 'Placement format', ['offerwall', 'banners', 'surveys', 'PTC'])),
  clickId: required(
    pattern('click_id', 'The click', '^[ -~]{1,128}$', 'click_id has 1 to 128 printable ASCII characters'),
  ),
};
