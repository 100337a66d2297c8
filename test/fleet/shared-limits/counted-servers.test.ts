import { expect, it } from 'vitest';
import { CountedServers } from '../../../src/fleet/shared-limits/counted-servers.ts';

const looking = (servers: number) => {
  const warned: string[] = [];
  let counted: number | undefined = servers;
  const looks = new CountedServers(async () => counted, servers, {
    warn: (_about: unknown, message?: string) => void warned.push(message ?? ''),
  });
  const see = async (number: number | undefined, times: number) => {
    counted = number;
    for (let look = 0; look < times; look++) await looks.look();
    return warned;
  };
  return see;
};

it('warns once that more services share the limits than limits.servers says', async () => {
  const see = looking(1);
  expect(await see(1, 10)).toEqual([]);
  expect(await see(3, 20)).toEqual([
    expect.stringMatching(/^3 services share .* limits\.servers says 1: .*Set limits\.servers to 3/) as string,
  ]);
});

it('is not misled by a service that is started again, nor by a Redis that is away', async () => {
  const see = looking(2);
  // Killed, and counted for a minute beside the one that took its place.
  await see(3, 4);
  await see(2, 1);
  await see(3, 4);
  expect(await see(undefined, 5)).toEqual([]);
});
