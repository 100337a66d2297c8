import { expect, it } from 'vitest';
import { matchNames } from '../../../../src/kit/intake/reading/header-names.ts';

it('header names are known in other spellings, and as they are written first where that is asked for', () => {
  expect(matchNames([' Click ID ', 'other'], ['click_id'])).toEqual(['click_id', 'other']);
  expect(matchNames(['click_id', 'Click ID'], ['click_id'])).toEqual(['click_id', 'click_id']);
  expect(matchNames(['Geo', 'GEO', 'click id'], ['GEO', 'Click ID'], true)).toEqual(['Geo', 'GEO', 'Click ID']);
  expect(matchNames(['Geo', 'geo'], ['GEO'], true)).toEqual(['GEO', 'GEO']);
  expect(matchNames(['DATE'], ['Date', 'date'], true)).toEqual(['DATE']);
  expect(matchNames(['DATE', ' date'], ['Date', 'date'], true)).toEqual(['DATE', 'date']);
});
