/**
 * `npm run test:package`: the package is made, installed into an empty folder by npm, and used there by the commands of
 * the page on installing. Where npm cannot reach a registry the file is unpacked beside this checkout's packages.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { makePackage, packPackage } from '../../release/bundle.ts';
import { documentedProgram } from '../../src/cli/reference/commands-page.ts';
import { packageFile, packageVersion } from '../../src/kit/files/package-files.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'offerline-package-'));
const installed = join(folder, 'installed');
/** As a user's shell has it: nothing of this checkout, and not the script that npm runs. */
const environment: NodeJS.ProcessEnv = {
  PATH: (process.env['PATH'] ?? '')
    .split(':')
    .filter((path) => !path.includes('node_modules'))
    .join(':'),
  HOME: process.env['HOME'],
  OFFERLINE_DATA: join(installed, 'network'),
};
const program = join(installed, 'node_modules/.bin/offerline');

async function offerline(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, words, {
    cwd: installed,
    env: environment,
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

try {
  mkdirSync(installed);
  await makePackage(join(folder, 'made'));
  const tarball = packPackage(join(folder, 'made'), installed);
  checkContents(tarball);
  const isFromRegistry = install(tarball);
  say(
    `installed ${basename(tarball)} ${isFromRegistry ? 'by npm' : 'beside the packages of the checkout: npm could not'}`,
  );
  runPage(isFromRegistry);
  await checkHelp();
  await checkCommands();
  await checkStart();
  say('the package works');
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** No test, no bench, no path of this machine, and few megabytes. */
function checkContents(tarball: string): void {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  assert.equal(basename(tarball), `offerline-${packageVersion()}.tgz`);
  assert.deepEqual(
    files.filter((file) => /\/(?:test|release|node_modules|bench)\/|\.ts$|\/data\/var\//.test(file)),
    [],
  );
  const size = statSync(tarball).size;
  assert.ok(size < 5e6, `${tarball} has ${size} bytes`);
  const here = spawnSync('grep', ['-rlF', packageFile(''), join(folder, 'made')], { encoding: 'utf8' });
  assert.equal(here.stdout, '', 'files with a path of this machine');
  const manifest = JSON.parse(readFileSync(join(folder, 'made/package.json'), 'utf8')) as Record<string, object>;
  assert.deepEqual(Object.keys(manifest['dependencies'] as object), ['@duckdb/node-bindings']);
  assert.equal(manifest['devDependencies'], undefined);
  say(`${files.length} files, ${(size / 1e6).toFixed(1)} MB`);
}

/** Returns whether npm could install it. */
function install(tarball: string): boolean {
  const npm = spawnSync(
    'npm',
    ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'],
    {
      cwd: installed,
      env: environment,
      encoding: 'utf8',
      timeout: 40_000,
    },
  );
  if (npm.status === 0) return true;
  const modules = join(installed, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(join(modules, '.bin'), { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', modules]);
  execFileSync('mv', [join(modules, 'package'), join(modules, 'offerline')]);
  for (const name of ['@duckdb', `node-${process.platform}-${process.arch}`])
    symlinkSync(packageFile(`node_modules/${name}`), join(modules, name));
  // As npm does.
  chmodSync(join(modules, 'offerline/src/offerline.mjs'), 0o755);
  symlinkSync('../offerline/src/offerline.mjs', program);
  return false;
}

/** The first block of the page's section, which ends with a status. */
function runPage(isFromRegistry: boolean): void {
  const page = readFileSync(packageFile('pipelines/README.md'), 'utf8');
  const [, block = ''] = /^## Install$[^]*?^```sh\n([^]*?)^```/m.exec(page) ?? [];
  const lines = block.split('\n').filter((line) => isFromRegistry || !line.startsWith('npm install'));
  assert.ok(lines.some((line) => line.startsWith('npx offerline run refresh')));
  const { OFFERLINE_DATA: _ours, ...bare } = environment;
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', lines.join('\n')], {
    cwd: installed,
    env: bare,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, new RegExp(`^${packageVersion().replaceAll('.', String.raw`\.`)}$`, 'm'));
  assert.match(stdout, /published {2}0000/);
  assert.match(stdout, /do: npx offerline /);
  say("the page's commands: a snapshot is published");
}

/** Every command is in the bundle: the help of all loads the code of each. */
async function checkHelp(): Promise<void> {
  const names = (await documentedProgram()).commands.map((command) => command.name());
  const help = await offerline('--help');
  assert.deepEqual(
    names.filter((name) => !new RegExp(`^ {2}${name}\\b`, 'm').test(help)),
    [],
  );
  assert.match(await offerline('sources', 'new', '--help'), /^Usage: offerline sources new /);
  say(`help of ${names.length} commands`);
}

/** What has files, threads or processes of its own; the demo's refreshes read packed files and send postbacks. */
async function checkCommands(): Promise<void> {
  const clicks = join(installed, 'network/landing/clicks/2026-11-18/edge-gru.csv');
  assert.match(await offerline('inspect', clicks), /click_id/);
  assert.match(await offerline('schema', 'sources.json'), /"connector"/);
  assert.match(await offerline('sql', 'SELECT count(*) AS n FROM offers'), /\d/);
  await offerline('doctor', '--deep');
  await offerline('postbacks', 'deliver');
  await offerline('backup', join(installed, 'backup.tar'));
  await offerline('restore', join(installed, 'backup.tar'), '--into', join(installed, 'restored'));
  // Started only after a run that ended by force; without a channel to a run it ends at once.
  await promisify(execFile)(
    process.execPath,
    [join(installed, 'node_modules/offerline/src/pipeline/ingest/trial-process.js')],
    { cwd: installed },
  );
  say('inspect, schema, sql, doctor, postbacks, backup, restore');
}

/** `start` with a demo: service, interface to try, tracker, console; ends by SIGTERM. */
async function checkStart(): Promise<void> {
  const started = spawn(program, ['start', '--demo', '--port', '0', '--json'], {
    cwd: installed,
    env: { ...environment, OFFERLINE_DATA: join(installed, 'demo') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  started.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = once(started, 'exit');
  try {
    let printed = '';
    for await (const text of started.stdout.setEncoding('utf8')) if ((printed += text as string).endsWith('}\n')) break;
    const { address, console: shown } = JSON.parse(printed) as { address: string; console: { link: string } };
    for (const path of ['/readyz', '/docs', '/openapi.json', '/metrics'])
      assert.equal((await fetch(address + path)).status, 200, path);
    const docs = await (await fetch(`${address}/docs`)).text();
    const [, script = ''] = /src="([^"]*swagger-ui-bundle\.js)"/.exec(docs) ?? [];
    assert.equal((await fetch(`${address}/${script}`)).status, 200, script);
    const style = await fetch(new URL('/static/console.css', shown.link));
    assert.equal(style.status, 200, 'console.css');
  } catch (error) {
    say(log.slice(-4000));
    throw error;
  } finally {
    started.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null]);
  assert.match(log, /"msg":"the console listens"/);
  say('start with a demo: service, interface, console; ended by SIGTERM');
}
