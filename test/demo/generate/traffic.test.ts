import { expect, it } from 'vitest';
import { buildNetwork } from '../../../src/demo/generate/network/network.ts';
import { visits } from '../../../src/demo/generate/network/traffic.ts';

it('makes as many clicks as asked for, at whatever moment the traffic ends', () => {
  const midnight = Date.UTC(2026, 10, 22);
  const network = buildNetwork(1, { offers: 20, sites: 8 }, midnight);
  const wrong: string[] = [];
  for (let minute = 1; minute <= 24 * 60; minute++) {
    const end = midnight + minute * 60_000;
    const made = [...visits(network, { seed: 1, clicks: 50, days: 1, end })].length;
    if (made !== 50) wrong.push(`${new Date(end).toISOString()}: ${made}`);
  }
  expect(wrong).toEqual([]);
});
