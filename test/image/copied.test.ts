import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { nodeArguments } from '../support/command-line.ts';
import { isCopy, readDockerfile, repository } from './dockerfile.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'offerline-image-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** `/app` of the image: what the last stage copies from the repository, and the packages of this checkout. */
const app = join(folder, 'app');
const copied = (readDockerfile().at(-1)?.instructions ?? [])
  .filter(isCopy)
  .flatMap(({ from, sources }) => (from === undefined ? sources : []));
for (const source of copied) cpSync(join(repository, source), join(app, source), { recursive: true });
symlinkSync(join(repository, 'node_modules'), join(app, 'node_modules'));

it('needs no file of the repository that is not copied', async () => {
  const data = join(folder, 'network');
  cpSync(join(repository, 'data/example'), data, { recursive: true });
  const words = ['run', 'refresh', '--as-of', '2026-11-18T12:00:00Z'];
  const env = { ...process.env, OFFERLINE_DATA: data };
  await run(process.execPath, [...nodeArguments, join(app, 'src/cli/main.ts'), ...words], { cwd: folder, env });
  expect(readdirSync(join(data, 'published'))).toContain('current');
});

it('needs no package that is for development only', () => {
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const files = execFileSync('git', ['ls-files', 'src', 'pipelines', 'data/fleet'], {
    cwd: repository,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.m?[jt]s$/.test(file));
  const pattern = /^(?!import type)(?:import|export|\}) .*?\bfrom '([^'.][^'\n]*)';$|\bimport\('([^'.][^'\n]*)'\)/gm;
  const packages = files.flatMap((file) =>
    [...readFileSync(join(repository, file), 'utf8').matchAll(pattern)]
      .map(([, from, loaded]) => /^(?:@[^/]+\/)?[^/]+/.exec(from ?? loaded ?? '')?.[0] ?? '')
      .filter((name) => !isBuiltin(name)),
  );
  expect(packages).toContain('fastify');
  expect(packages.filter((name) => !Object.hasOwn(dependencies, name))).toEqual([]);
});

it('makes the bucket of the fleet, and is content with one that is there', async () => {
  const asked: string[] = [];
  const storage = createServer(({ method, url }, answer) => {
    asked.push(`${method} ${url}`);
    if (asked.length === 1) answer.writeHead(200).end();
    else answer.writeHead(409).end('<Error><Code>BucketAlreadyOwnedByYou</Code></Error>');
  }).listen(0, '127.0.0.1');
  await once(storage, 'listening');
  const { port } = storage.address() as AddressInfo;
  const fleet = join(repository, 'data/fleet');
  execFileSync('sh', [join(fleet, 'new-secrets.sh'), join(folder, 'secrets')]);
  const settings = readFileSync(join(fleet, 'writer.json'), 'utf8')
    .replace('http://storage:8333', `http://127.0.0.1:${port}`)
    .replaceAll('/run/secrets', join(folder, 'secrets'));
  writeFileSync(join(folder, 'offerline.json'), settings);
  cpSync(join(fleet, 'make-bucket.mjs'), join(app, 'make-bucket.mjs'));
  const env = { ...process.env, OFFERLINE_DATA: folder };
  for (let time = 0; time < 2; time++) await run(process.execPath, [join(app, 'make-bucket.mjs')], { env });
  expect(asked).toEqual(['PUT /offerline/', 'PUT /offerline/']);
  storage.close();
});
