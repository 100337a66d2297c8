import { expect, it } from 'vitest';
import { parseSettings } from '../../../src/kit/config/settings.ts';

const zoned = (time_zone: string) =>
  parseSettings(JSON.stringify({ logs: { clicks: { time_zone } }, sources: { net: { time_zone } } }), 'offerline.json');

it.each(['Europe/Berlin', 'UTC', 'Etc/GMT+2', '+02:00', '-0330', '+02', '+18:00', '-00:00'])('%s is a zone', (zone) => {
  expect(zoned(zone).logs.clicks.time_zone).toBe(zone);
});

it.each(['Berlin', '+2', '+02:60', '+18:01', '+23:00', '02:00', '+02:00:00', "+02:00'", ''])('%s is none', (zone) => {
  expect(() => zoned(zone)).toThrow('is neither an IANA time zone such as Europe/Berlin nor an offset such as +02:00');
});
