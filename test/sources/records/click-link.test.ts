import { expect, it } from 'vitest';
import { fillDestination, readDestination } from '../../../src/pipeline/routes/destination.ts';
import { withClickId } from '../../../src/sources/records/click-link.ts';

it.each([
  ['https://t.example/aff_c?offer_id=1&aff_id=2', 'https://t.example/aff_c?offer_id=1&aff_id=2&aff_sub={click_id}'],
  ['https://t.example/DF/2T/', 'https://t.example/DF/2T/?aff_sub={click_id}'],
  ['https://t.example/?', 'https://t.example/?aff_sub={click_id}'],
  ['https://t.example/?a=1&', 'https://t.example/?a=1&aff_sub={click_id}'],
  ['https://t.example/?a=1#top', 'https://t.example/?a=1&aff_sub={click_id}#top'],
  ['https://t.example/?aff_sub=&a=1', 'https://t.example/?aff_sub={click_id}&a=1'],
  ['https://t.example/?aff_sub=x&a=1&aff%5Fsub=y', 'https://t.example/?aff_sub={click_id}&a=1'],
  ['https://t.example/?a=1&amp;aff_sub=x', 'https://t.example/?a=1&aff_sub={click_id}'],
  ['https://t.example/?aff_sub2=x&b=%zz', 'https://t.example/?aff_sub2=x&b=%zz&aff_sub={click_id}'],
  ['https://t.example/?u=https://a.example/?b=1', 'https://t.example/?u=https://a.example/?b=1&aff_sub={click_id}'],
])('%s has the click id in its parameter, once', (link, expected) => {
  expect(withClickId(link, { parameter: 'aff_sub' })).toBe(expected);
  expect(withClickId(expected, { parameter: 'aff_sub' })).toBe(expected);
});

it.each([
  ['https://t.example/1/[USER_ID]?s=[USER_ID]', 'https://t.example/1/{click_id}?s={click_id}'],
  ['https://t.example/?u=%5BUSER_ID%5D', 'https://t.example/?u={click_id}'],
  ['https://t.example/?u=%5bUSER_ID%5d', 'https://t.example/?u={click_id}'],
  ['https://t.example/?u=1', 'https://t.example/?u=1'],
])('%s has the click id in place of a macro', (link, expected) => {
  expect(withClickId(link, { macro: '[USER_ID]' })).toBe(expected);
});

it('an operator who names the parameter too gets the click id once', () => {
  const link = withClickId('https://t.example/?o=1', { parameter: 'sub1' });
  for (const append_click_id of ['sub1', 'other']) {
    const destination = readDestination(link, { append_click_id });
    if ('mistake' in destination) throw new Error(destination.mistake);
    expect(fillDestination(destination, (value) => `<${value}>`)).toBe('https://t.example/?o=1&sub1=%3Cclick_id%3E');
  }
});
