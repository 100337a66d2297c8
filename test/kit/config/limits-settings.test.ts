import { expect, it } from 'vitest';
import { defaultSettings, parseSettings } from '../../../src/kit/config/settings.ts';

const limitsOf = (limits: object) => parseSettings(JSON.stringify({ limits }), 'offerline.json').limits;

it('limits are counted here where no Redis is named; one that is may be a reference', () => {
  expect(defaultSettings.limits).toBeUndefined();
  expect(limitsOf({ redis: 'redis://host:6379/0' })).toEqual({ redis: 'redis://host:6379/0', servers: 1 });
  expect(limitsOf({ redis: { env: 'NAME' }, servers: 3 })).toEqual({ redis: { env: 'NAME' }, servers: 3 });
  expect(limitsOf({ redis: 'rediss://user:a%40b@[::1]' })).toMatchObject({ redis: 'rediss://user:a%40b@[::1]' });
});

it.for([
  [{}, 'redis'],
  [{ redis: 'host:6379' }, 'is not an address such as redis://host:6379/0'],
  [{ redis: 'http://host' }, 'is not an address'],
  [{ redis: 'redis://host/zero' }, 'is not an address'],
  [{ redis: 'redis://:50%off@host' }, 'a % in it is written %25'],
  [{ redis: 'redis://us%er:word@host' }, 'a % in it is written %25'],
  [{ redis: 'redis://u%:41word@host' }, 'a % in it is written %25'],
  [{ redis: 'redis://host', servers: 0 }, 'servers'],
  [{ redis: 'redis://host', server: 3 }, 'server'],
] as const)('%o is refused: %s', ([limits, message]) => {
  expect(() => limitsOf(limits)).toThrow(message);
});

it('a refused address is not repeated, since it may contain a password', () => {
  expect(() => limitsOf({ redis: 'redis://:hidden-word@host/zero' })).toThrow(/^(?!.*hidden-word)/s);
  expect(() => parseSettings('{"limits":{"redis":hidden}}', 'offerline.json')).toThrow(
    /^offerline.json is not valid JSON in line 1, column 20: keys and texts are between double quotes$/,
  );
  expect(() => parseSettings('{"limits":{"redis":"r"\n"x"}}', 'offerline.json')).toThrow(/JSON in line 2, column 1/);
});
