import { describe, expect, it } from 'vitest';
import { readDevice } from '../../../src/kit/vocabulary/devices.ts';

describe('devices', () => {
  it.each([
    ['android', ['android']],
    ['Android Phone', ['android']],
    ['android_tablet', ['android']],
    ['iOS', ['ios']],
    ['iPhone', ['ios']],
    ['IPAD', ['ios']],
    ['desktop', ['desktop']],
    ['PC', ['desktop']],
    ['web', ['desktop']],
    ['Windows', ['desktop']],
    ['mac', ['desktop']],
    ['MacOS', ['desktop']],
    ['mobile', ['android', 'ios']],
  ])('takes %s for %j', (text, meaning) => {
    expect(readDevice(text)).toEqual(meaning);
  });

  it.each(['all', 'ALL', 'any', '*', 'All Devices'])('takes %s for all', (text) => {
    expect(readDevice(text)).toBe('all');
  });

  it.each(['', 'fridge', 'constructor', 'android,ios'])('does not guess what %j means', (text) => {
    expect(readDevice(text)).toBeUndefined();
  });
});
