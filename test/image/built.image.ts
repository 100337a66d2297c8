import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCompose, type Service } from './compose.ts';
import { Container, whyNoContainer } from './container.ts';
import { readImage, repository } from './dockerfile.ts';

const reason = whyNoContainer();
if (reason !== undefined) process.stderr.write(`the steps of the Dockerfile are not run here: ${reason}\n`);

describe.skipIf(reason !== undefined)('what the Dockerfile makes', () => {
  const { entrypoint, command, healthcheck, stopSignal } = readImage();
  let image: Container;
  let data: string;

  beforeAll(async () => {
    image = await Container.build();
    data = await image.volume('network', join(repository, 'data/example'));
  });
  afterAll(() => image[Symbol.asyncDispose]());

  it('refreshes a network and serves it, with nothing to write to but /data and /tmp', async () => {
    const mounts = { '/data': data };
    const refreshed = await image.run([...entrypoint, 'run', 'refresh', '--as-of', '2026-11-18T12:00:00Z'], { mounts });
    expect(refreshed).toMatchObject({ code: 0 });

    const service = image.start([...entrypoint, 'serve'], { mounts });
    const network = { of: service.pid as number };
    await untilHealthy(() => image.run(healthcheck, { network }));

    const site = { site_key: 'perkhaven', site_secret: 'example-only-perkhaven-c63e' };
    const { output } = await image.run(
      ['node', '-e', asking(`/c/api/v1/offers?${String(new URLSearchParams(site))}`)],
      { network },
    );
    expect(JSON.parse(output)).toMatchObject({ total: expect.any(Number) as number });

    service.kill(stopSignal as NodeJS.Signals);
    expect(await once(service, 'exit')).toEqual([0, null]);
    expect((await image.run(healthcheck)).code, 'where nothing is served').toBe(1);
  });

  it('starts by its own command on a new volume, and ends when it is asked to', async () => {
    const empty = await image.volume('empty');
    const started = image.start([...entrypoint, ...command], { mounts: { '/data': empty } });
    const ending = once(started, 'exit');
    const network = { of: started.pid as number };
    await untilHealthy(() => image.run(['node', '-e', asking('/healthz')], { network }));
    started.kill(stopSignal as NodeJS.Signals);
    expect(await ending).toEqual([0, null]);
  });

  it('tells its status by name, for the health of a schedule', async () => {
    const { code, output } = await image.run(['offerline', 'status'], { mounts: { '/data': data } });
    expect(output).toContain('snapshot');
    expect(code).toBe(0);
  });

  it('makes the bucket of the fleet, and is content with one that is there', async () => {
    const bucket = readCompose().services['bucket'] as Service;
    const asked: string[] = [];
    const storage = createServer(({ method, url }, answer) => {
      asked.push(`${method} ${url}`);
      if (asked.length === 1) answer.writeHead(200).end();
      else answer.writeHead(409).end('<Error><Code>BucketAlreadyOwnedByYou</Code></Error>');
    }).listen(0, '127.0.0.1');
    await once(storage, 'listening');
    const { port } = storage.address() as AddressInfo;
    const folder = await image.volume('bucket');
    const fleet = join(repository, 'data/fleet');
    execFileSync('sh', [join(fleet, 'new-secrets.sh'), join(folder, 'secrets')]);
    const writer = await readFile(join(fleet, 'writer.json'), 'utf8');
    await writeFile(join(folder, 'offerline.json'), writer.replace('http://storage:8333', `http://127.0.0.1:${port}`));
    const mounts = {
      '/app/make-bucket.mjs': join(fleet, 'make-bucket.mjs'),
      '/data/offerline.json': join(folder, 'offerline.json'),
      ...Object.fromEntries(
        bucket.secrets?.map((name) => [`/run/secrets/${name}`, join(folder, 'secrets', name)]) ?? [],
      ),
    };
    const made = () => image.run(bucket.entrypoint ?? [], { mounts, network: 'machine' });
    expect(await made()).toEqual({ code: 0, output: '' });
    expect(await made()).toEqual({ code: 0, output: '' });
    expect(asked).toEqual(['PUT /offerline/', 'PUT /offerline/']);
    storage.close();
  });

  it('has no second Node, no tools of development, and a root that its user cannot write', async () => {
    const script = `
      const { existsSync, writeFileSync } = require('node:fs');
      const refused = (path) => { try { writeFileSync(path, ''); return null } catch ({ code }) { return code } };
      console.log(JSON.stringify({
        node: process.version, user: process.getuid(),
        present: ['node_modules/vitest', 'node_modules/node-linux-' + process.arch, 'test', 'data'].filter(existsSync),
        refused: ['/app/x', '/usr/local/x', '/x'].map(refused), tmp: refused('/tmp/x'),
      }))`;
    const { output } = await image.run(['node', '-e', script]);
    expect(JSON.parse(output)).toEqual({
      node: process.version,
      user: 1000,
      present: [],
      refused: ['EROFS', 'EROFS', 'EROFS'],
      tmp: null,
    });
  });
});

/** Asks the service, prints its answer, and exits 1 where there is none or it is no good one. */
function asking(path: string): string {
  return `fetch('http://127.0.0.1:8080${path}').then(async (answer) => {
    console.log(await answer.text());
    process.exit(answer.ok ? 0 : 1);
  }, () => process.exit(1))`;
}

/** As an engine does: asks again until the answer is good. */
async function untilHealthy(check: () => Promise<{ code: number | null }>): Promise<void> {
  const end = performance.now() + 30_000;
  while ((await check()).code !== 0) if (performance.now() > end) throw new Error('it did not become healthy');
}
