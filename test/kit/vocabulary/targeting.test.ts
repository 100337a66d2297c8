import { expect, it } from 'vitest';
import { targetCountries, targetDevices } from '../../../src/kit/vocabulary/targeting.ts';

it('takes the denied from the allowed, and from all where none is allowed by name', () => {
  expect(targetCountries(['de', 'France'], ['FR'])).toEqual({ values: ['DE'], warnings: [] });
  const { values } = targetCountries([], ['US']) as { values: string[] };
  expect(values).toHaveLength(248);
  expect(values).not.toContain('US');
  expect(targetDevices(['all'], ['mobile'])).toEqual({ values: ['desktop'], warnings: [] });
  expect(targetDevices([], ['iPhone'])).toEqual({ values: ['android', 'desktop'], warnings: [] });
});

it('tells nothing left from everywhere', () => {
  expect(targetCountries(['DE'], ['Germany'])).toEqual({ nothing: true, warnings: [] });
  expect(targetDevices([], ['all'])).toEqual({ nothing: true, warnings: [] });
  expect(targetDevices([], [])).toEqual({ values: [], warnings: [] });
});

it('passes unknown allowed words on and warns of unknown denied ones', () => {
  expect(targetDevices(['fridge', 'ios'], ['toaster', 'pc'])).toEqual({
    values: ['fridge', 'ios'],
    warnings: ['denied_device_unknown'],
  });
});
