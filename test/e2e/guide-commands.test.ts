import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/kit/files/package-files.ts';
import { launcher } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { slow } from '../support/slow.ts';

/** Commands of the operators' guide that no test can run, and why. */
const elsewhere: readonly [command: RegExp, reason: string][] = [
  [/^npm install \./, 'needs a registry; `npm run test:package` runs it'],
  [/^docker /, 'needs Docker; test/image.test.ts reads its files'],
  [/^kubectl /, 'needs a cluster; test/deploy.test.ts reads the manifests'],
  [
    /^(systemctl|useradd|install -d|mkdir -p \/opt|npm install --prefix \/opt|cp \/opt)/,
    'needs root and systemd; test/deploy.test.ts reads the units',
  ],
  [/^chown /, 'needs root'],
];

interface Line {
  text: string;
  /** Undefined for one that runs here. */
  reason: string | undefined;
}

const guide = await readFile(packageFile('pipelines/README.md'), 'utf8');
const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => linesOf(block));
const left = blocks.flat().filter(({ reason }) => reason !== undefined);

/** Commands of a block. One that asks what such a command has started cannot run, either. */
function linesOf(block: string): Line[] {
  const texts = block
    .replaceAll(/\\\n\s*/g, '')
    .split(/\n| && /)
    .filter((text) => text !== '');
  let awaited: string | undefined;
  return texts.map((text) => {
    const reason = elsewhere.find(([command]) => command.test(text))?.[1];
    if (reason !== undefined && text.startsWith('docker compose up')) awaited = 'asks what `docker compose up` starts';
    return { text, reason: reason ?? (text.startsWith('curl ') ? awaited : undefined) };
  });
}

/** The reader's folder and shell. */
let place: string;
let environment: NodeJS.ProcessEnv;
/** The command that runs until the end of its block, and its address. */
let listening: { child: ChildProcess; address: string } | undefined;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'offerline-guide-'));
  environment = { ...process.env };
  await mkdir(join(place, 'srv/backups'), { recursive: true });
  await mkdir(join(place, 'node_modules'));
  await symlink(packageFile(''), join(place, 'node_modules/offerline'));
  for (const name of ['example', 'fleet'])
    await cp(packageFile(`data/${name}`), join(place, 'data', name), { recursive: true });
});
afterAll(() => rm(place, { recursive: true, force: true }));

/** The line with places and addresses of this machine in place of the guide's. */
async function here(text: string): Promise<string> {
  const [archive = ''] = await readdir(join(place, 'srv/backups'));
  return text
    .replace(/offerline-\d{8}T\d{6}Z\.tar/, archive)
    .replaceAll('/srv', `${place}/srv`)
    .replaceAll('10.0.0.5', '127.0.0.1')
    .replaceAll('9464', '0')
    .replaceAll('http://127.0.0.1:8080', listening?.address ?? '');
}

async function shell(line: string): Promise<string> {
  const options = { cwd: place, env: environment };
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', line], options)).stdout;
}

/** The words of a line, as a shell reads them. */
async function wordsOf(line: string): Promise<string[]> {
  return (await shell(`printf '%s\\0' ${line}`)).split('\0').slice(0, -1);
}

async function start(words: readonly string[], address: RegExp): Promise<void> {
  const child = spawn(launcher.executable, [...launcher.words, ...words], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const found = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        const [, match] = address.exec((printed += text)) ?? [];
        if (match !== undefined) resolve(match);
      });
    child.once('exit', () => reject(new Error(printed)));
  });
  listening = { child, address: found };
}

async function run(text: string): Promise<void> {
  const line = await here(text);
  const [, name = '', value = ''] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  if (name !== '') {
    [environment[name]] = await wordsOf(value);
    return;
  }
  const [, command] = /^(?:npx )?offerline (.*)$/.exec(line) ?? [];
  if (command === undefined) {
    const printed = await shell(line);
    if (line.startsWith('curl ') && !printed.startsWith('{"success":true,')) throw new Error(printed);
    return;
  }
  const words = await wordsOf(command);
  if (words[0] === 'start') return start([...words, '--port', '0', '--json'], /"address": "(http[^"]+)"/);
  if (words[0] === 'schedule') return start(words, /"address": ?"(http[^"]+)","msg":"answering \/metrics"/);
  const { code, stdout, stderr } = await endOf(String(environment['OFFERLINE_DATA']), ...words);
  expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
  expect(stdout).not.toBe('');
}

describe('the operators’ guide, as one types it', () => {
  const runnable = blocks.filter((block) => block.some(({ reason }) => reason === undefined));
  it.each(runnable.map((block) => [block.map(({ text }) => text).join('; '), block] as const))(
    '%s',
    slow,
    async (_, block) => {
      try {
        for (const { text, reason } of block) if (reason === undefined) await run(text);
        const answers = listening === undefined ? [] : [await fetch(`${listening.address}/metrics`)];
        expect(answers.filter(({ ok }) => !ok)).toEqual([]);
      } finally {
        if (listening !== undefined) {
          const exit = once(listening.child, 'exit');
          if (listening.child.kill('SIGTERM')) await exit;
          listening = undefined;
        }
      }
    },
  );

  it.for(left)('$text', ({ reason }, { skip }) => skip(reason));

  it('each reason for not running one is the reason of one', () => {
    expect(elsewhere.filter(([, reason]) => left.every((line) => line.reason !== reason))).toEqual([]);
  });
});
