import { expect, it, onTestFinished } from 'vitest';
import { StandbyServer } from '../../../src/tracker/server/standby-server.ts';

it('a tracker on standby is alive and can be scraped, and answers nothing else', async () => {
  const server = new StandbyServer();
  onTestFinished(() => server.close());
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const statusOf = async (path: string) => (await fetch(`${address}${path}`)).status;
  expect([await statusOf('/healthz'), await statusOf('/readyz'), await statusOf('/redirect/x')]).toEqual([
    200, 503, 503,
  ]);
  const metrics = await fetch(`${address}/metrics`);
  expect([metrics.status, await metrics.text()]).toEqual([
    200,
    expect.stringMatching(/^offerline_tracker_standby 1$/m),
  ]);
});
