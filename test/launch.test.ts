import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** The package of this platform's Node, as npm names it. */
const platform = `${process.platform}-${process.arch}`;
const nodePackage = `node_modules/${platform === 'darwin-arm64' ? 'node-bin' : 'node'}-${platform}`;

/** A checkout with nothing but the launcher, a program, and an npm that only links this Node into node_modules. */
let checkout: string;

const npm = `
  import { appendFileSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
  console.log('npm speaks on standard output');
  appendFileSync('npm-runs', process.argv.slice(2).join(' ') + '\\n');
  if (existsSync('npm-fails')) process.exit(1);
  while (existsSync('npm-hangs')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  mkdirSync('${nodePackage}/bin', { recursive: true });
  writeFileSync('${nodePackage}/package.json', JSON.stringify({ version: process.versions.node }));
  if (!existsSync('${nodePackage}/bin/node')) symlinkSync(process.execPath, '${nodePackage}/bin/node');
  copyFileSync('package-lock.json', 'node_modules/.package-lock.json');`;

const program = `
  const [what, ...rest]: string[] = process.argv.slice(2);
  if (what === 'wait') {
    process.on('SIGTERM', () => process.exit(7));
    setInterval(() => undefined, 1000);
    console.log('ready');
  } else if (what === 'die') {
    process.kill(process.pid, 'SIGKILL');
  } else {
    console.log(JSON.stringify({ rest, threads: Number(process.env['UV_THREADPOOL_SIZE']) > 4 }));
    process.exitCode = Number(what);
  }`;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'offerline-'));
  await mkdir(join(checkout, 'src'));
  for (const file of ['launch.mjs', 'start-node.mjs'])
    await cp(fileURLToPath(new URL(`../src/${file}`, import.meta.url)), join(checkout, 'src', file));
  await writeFile(join(checkout, 'npm.mjs'), npm);
  await writeFile(join(checkout, 'src', 'program.ts'), program);
  await lockPackages('1.0.0');
});

afterEach(() => rm(checkout, { recursive: true, force: true }));

async function lockPackages(version: string): Promise<void> {
  const packages = {
    '': {},
    'node_modules/a': { version, integrity: `sha512-${version}` },
    'node_modules/elsewhere': { version, optional: true },
  };
  await writeFile(join(checkout, 'package-lock.json'), JSON.stringify({ packages }));
}

function start(...launchArguments: string[]) {
  const child = spawn(process.execPath, [join(checkout, 'src', 'launch.mjs'), ...launchArguments], {
    cwd: checkout,
    env: { ...process.env, npm_execpath: join(checkout, 'npm.mjs'), UV_THREADPOOL_SIZE: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ended: Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]) };
}

async function launch(...launchArguments: string[]) {
  const [[code, signal], output, messages] = await start(...launchArguments).ended;
  return { code: code as number | null, signal: signal as string | null, output, messages };
}

async function npmRuns(): Promise<string[]> {
  return (await readFile(join(checkout, 'npm-runs'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
}

describe('launch', () => {
  it('installs in a fresh clone, then prints what the program prints and ends as it ends', async () => {
    const first = await launch('src/program.ts', '3', '--help', 'two words');
    expect(first).toMatchObject({
      code: 3,
      output: `${JSON.stringify({ rest: ['--help', 'two words'], threads: true })}\n`,
    });
    expect(first.messages).toContain('npm speaks');
    expect(await npmRuns()).toEqual([expect.stringMatching(/^ci /)]);
    const second = await launch('src/program.ts', '0');
    expect(second).toMatchObject({ code: 0, messages: '' });
    expect(await npmRuns()).toHaveLength(1);
  });

  it('passes options before the program to its Node', async () => {
    await launch('src/program.ts', '0');
    expect(await launch('--no-warnings', 'src/program.ts', '0', '--help')).toMatchObject({
      code: 0,
      output: `${JSON.stringify({ rest: ['--help'], threads: true })}\n`,
    });
  });

  it('installs again when the lock file asks for other packages', async () => {
    await launch('src/program.ts', '0');
    await lockPackages('2.0.0');
    await launch('src/program.ts', '0');
    expect(await npmRuns()).toHaveLength(2);
  });

  it('installs again where the Node of the project is missing', async () => {
    await launch('src/program.ts', '0');
    await rm(join(checkout, nodePackage), { recursive: true });
    expect(await launch('src/program.ts', '0')).toMatchObject({ code: 0 });
    expect(await npmRuns()).toHaveLength(2);
  });

  it('says so where npm leaves the Node of the project out, as it does when the hash is another', async () => {
    await writeFile(join(checkout, 'npm.mjs'), npm.replaceAll(nodePackage, 'node_modules/another'));
    const messages = expect.stringContaining('does not have the hash of package-lock.json') as string;
    expect(await launch('src/program.ts', '0')).toMatchObject({ code: 1, output: '', messages });
  });

  it('installs once when launched twice at the same moment', async () => {
    await writeFile(join(checkout, 'npm-hangs'), '');
    const launches = [start('src/program.ts', '0'), start('src/program.ts', '0')];
    // Whichever comes second says that it waits; only then does npm go on.
    await Promise.race(launches.map(({ child }) => seen(child.stderr, 'Waiting for another launch')));
    await rm(join(checkout, 'npm-hangs'));
    for (const { ended } of launches) expect((await ended)[0]).toEqual([0, null]);
    expect(await npmRuns()).toHaveLength(1);
  });

  it('takes over from a launch that was killed while installing', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await mkdir(join(checkout, 'install-lock.tmp'));
    await writeFile(join(checkout, 'install-lock.tmp', 'pid'), String(pid));
    expect(await launch('src/program.ts', '0')).toMatchObject({ code: 0 });
  });

  it('says so when npm fails, and does not start the program', async () => {
    await writeFile(join(checkout, 'npm-fails'), '');
    expect(await launch('src/program.ts', '0')).toMatchObject({
      code: 1,
      output: '',
      messages: expect.stringContaining('npm ci failed') as string,
    });
  });

  it('refuses a Node that is not the pinned one', async () => {
    await launch('src/program.ts', '0');
    await writeFile(join(checkout, nodePackage, 'package.json'), '{"version": "22.1.0"}');
    expect(await launch('src/program.ts', '0')).toMatchObject({
      code: 1,
      messages: expect.stringContaining('is Node 22.1.0, the project needs 24') as string,
    });
  });

  it.each([[[]], [['unknown']], [['src/missing.ts']]])('refuses %j', async (launchArguments) => {
    await launch('src/program.ts', '0');
    expect(await launch(...launchArguments)).toMatchObject({
      code: 1,
      output: '',
      messages: expect.stringMatching(/usage|does not exist/) as string,
    });
  });

  it('passes signals both ways', async () => {
    await launch('src/program.ts', '0');
    const { child, ended } = start('src/program.ts', 'wait');
    await seen(child.stdout, 'ready');
    child.kill('SIGTERM');
    expect((await ended)[0]).toEqual([7, null]);
    expect(await launch('src/program.ts', 'die')).toMatchObject({ code: null, signal: 'SIGKILL' });
  });
});

function seen(stream: NodeJS.ReadableStream, words: string): Promise<void> {
  return new Promise((resolve) => {
    let before = '';
    stream.on('data', (chunk: Buffer | string) => {
      before += chunk.toString();
      if (before.includes(words)) resolve();
    });
  });
}
