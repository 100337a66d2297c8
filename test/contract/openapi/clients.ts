import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startListening } from '../../support/listening-process.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';

/**
 * Holds the served OpenAPI document to a linter, and to three generators of clients, whose code must compile. Needs the
 * network for their packages, so it is run by hand: `node src/launch.mjs test/contract/openapi/clients.ts`
 */
const packages = [
  '@redocly/cli@2.77.0',
  'openapi-typescript@7.13.0',
  '@hey-api/openapi-ts@0.99.0',
  'orval@8.38.0',
  'typescript@5.9.3',
];
const redocly = `extends: [recommended]
rules:
  # Answers beside the operations: unknown paths, and methods that no path has.
  no-unused-components: off
`;
const orval = `export default { api: { input: './openapi.json', output: { target: './out/orval.ts', client: 'fetch' } } };\n`;
const compiler = JSON.stringify({
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  },
  include: ['out/**/*.ts'],
});

const folder = await mkdtemp(join(tmpdir(), 'offerline-clients-'));
const { data, remove } = await temporaryData();
try {
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret' }]);
  const serve = await startListening(data.root, 'serve');
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${serve.address}/openapi.json`)).text());
  await serve.end('SIGTERM');
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await writeFile(join(folder, 'redocly.yaml'), redocly);
  await writeFile(join(folder, 'orval.config.mjs'), orval);
  await writeFile(join(folder, 'tsconfig.json'), compiler);
  const run = (program: string, ...words: string[]) => {
    process.stdout.write(`\n${program} ${words.join(' ')}\n`);
    execFileSync(program, words, { cwd: folder, stdio: 'inherit' });
  };
  run('npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', ...packages);
  run('npx', 'redocly', 'lint', 'openapi.json', '--max-problems=50');
  run('npx', 'openapi-typescript', 'openapi.json', '-o', 'out/openapi-typescript.ts');
  run('npx', 'openapi-ts', '-i', 'openapi.json', '-o', 'out/hey-api', '--no-log-file');
  run('npx', 'orval', '--config', 'orval.config.mjs');
  run('npx', 'tsc', '-p', '.');
} finally {
  await rm(folder, { recursive: true, force: true });
  await remove();
}
