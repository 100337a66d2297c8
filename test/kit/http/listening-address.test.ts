import { expect, it } from 'vitest';
import { addressText, portOf } from '../../../src/kit/http/listening-address.ts';

it.each([
  [{ address: '127.0.0.1', port: 8082 }, 'http'],
  [{ address: '::', port: 80 }, 'http'],
  [{ address: '::1', port: 443 }, 'http'],
  [{ address: '192.0.2.1', port: 443 }, 'https'],
  [{ address: '0.0.0.0', port: 80 }, 'https'],
] as const)('the port of %j over %s is had back from its text', (listening, scheme) => {
  expect(portOf(addressText(listening, scheme))).toBe(listening.port);
});
