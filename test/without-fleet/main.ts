/**
 * `npm run test:without-fleet`: the core compiles, and its tests pass, in a copy of the tracked tree that lacks
 * `src/fleet`. Only the composition root names what is missing; settings that ask for it are refused.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compositionRoot = 'src/cli/compose.ts';
/** Folders whose tests are about what is missing. */
const aboutFleet = /^(?:src\/fleet|test\/(?:fleet|spark|s3|without-fleet))\//;
/** A quick part of the suite: runs, postbacks and their stores, events, the publisher API. */
const suites = ['test/pipelines', 'test/pipeline/deliveries', 'test/pipeline/ingest/events', 'test/serve/pages'];
const say = (line: string) => void process.stdout.write(`${line}\n`);

const copy = mkdtempSync(join(tmpdir(), 'offerline-without-fleet-'));
try {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const files = tracked.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
  const kept = files.filter((file) => !aboutFleet.test(file) && !importsFleet(file));
  for (const file of kept) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  say(`copied ${kept.length} of ${files.length} files, without src/fleet and the tests that import it`);

  const types = node(['node_modules/typescript-native/bin/tsc', '--noEmit']);
  const errors = types.stdout.split('\n').filter((line) => / error TS\d+:/.test(line));
  const unexpected = errors.filter((line) => !line.startsWith(`${compositionRoot}(`) || !line.includes('TS2307'));
  if (unexpected.length > 0 || (types.status !== 0 && errors.length === 0))
    throw new Error(`the core does not compile without fleet:\n${unexpected.join('\n') || types.stderr}`);
  say(`the types hold; ${compositionRoot} alone names ${errors.length} modules that are missing`);

  const data = join(copy, 'data-of-test');
  mkdirSync(data);
  writeFileSync(join(data, 'sites.json'), '{"sites":[]}');
  const asked = {
    storage: { url: 's3://bucket/network', access_key_id: 'id', secret_access_key: 'very/secret+key' },
    postbacks: { store: 'postgres://user:password@127.0.0.1:1/database' },
  };
  for (const [setting, value] of Object.entries(asked)) {
    writeFileSync(join(data, 'offerline.json'), JSON.stringify({ [setting]: value }));
    const command = setting === 'storage' ? ['run', 'refresh'] : ['postbacks', 'deliver'];
    const { status, stderr } = node(['src/cli/main.ts', ...command], { OFFERLINE_DATA: data });
    if (status !== 2 || !stderr.includes('this build has no fleet'))
      throw new Error(`"${setting}" is not refused: exit ${status}\n${stderr}`);
  }
  say(`settings that ask for it are refused with exit 2: ${Object.keys(asked).join(', ')}`);

  say(`running ${suites.join(', ')}`);
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--tags-filter=!slow', ...suites];
  const { status } = spawnSync(process.execPath, words, {
    cwd: copy,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('tests of the core fail without fleet');
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
}

function importsFleet(file: string): boolean {
  if (!file.startsWith('test/') || !file.endsWith('.ts')) return false;
  return /from '(?:\.\.?\/)+(?:src\/)?fleet\//.test(readFileSync(join(root, file), 'utf8'));
}

function node(words: string[], environment: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, words, {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 2 ** 26,
  });
}
