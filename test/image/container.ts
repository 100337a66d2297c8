import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, linkSync, lstatSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  type CopyInstruction,
  type Instruction,
  isCopy,
  readDockerfile,
  readImage,
  repository,
  type Stage,
  variablesOf,
} from './dockerfile.ts';

/** What a run of a program came to. */
export interface Ended {
  code: number | null;
  output: string;
}

/** Where a program runs, and with what of the outside. */
interface Surroundings {
  /** Number and group of its user. */
  user: string;
  environment: Record<string, string>;
  folder: string;
  /** Folders and files of the machine by where they are mounted. */
  mounts: Record<string, string>;
  /** Whether all but what is mounted can be read only, as `read_only: true` has it. */
  readOnly: boolean;
  /** The machine's, one with nothing but loopback, or that of a process. */
  network: 'machine' | 'own' | { of: number };
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const needed = ['unshare', 'nsenter', 'chroot', 'setpriv', 'mount', 'ip', 'npm'];

/** What keeps a machine from standing in for a container; undefined where nothing does. */
export function whyNoContainer(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting needs root on Linux';
  const missing = needed.filter((program) => programPath(program) === undefined);
  if (missing.length > 0) return `${missing.join(', ')} cannot be found`;
  try {
    execFileSync('unshare', ['--mount', '--net', 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `this machine gives no namespaces: ${(error as Error).message}`;
  }
}

/**
 * What a Dockerfile makes, in empty folders: its COPY and RUN steps are done as they stand there, by the users that they
 * are for, with the programs of this machine's /usr below /usr/local in place of the base image's, and the Node of
 * package.json. It is no image: layers, the base image itself and what an engine adds are not tried.
 */
export class Container implements AsyncDisposable {
  readonly #folder: string;
  readonly #root: string;
  readonly #processes: ChildProcess[] = [];

  static async build(): Promise<Container> {
    const folder = await mkdtemp(join(tmpdir(), 'offerline-image-'));
    // Whoever is not root begins its way at the root folder.
    await chmod(folder, 0o755);
    const roots = new Map<string, string>();
    let root = '';
    for (const [index, stage] of readDockerfile().entries()) {
      root = join(folder, `stage-${index}`);
      await layBase(root);
      await buildStage(stage, root, roots);
      roots.set(stage.name ?? String(index), root);
    }
    return new Container(folder, root);
  }

  private constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  /** A folder beside the image, of the image's user. */
  async volume(name: string, content?: string): Promise<string> {
    const path = join(this.#folder, name);
    if (content === undefined) mkdirSync(path);
    else cpSync(content, path, { recursive: true });
    execFileSync('chown', ['-R', readImage().user, path]);
    return path;
  }

  /** Runs a program to its end, as the image would. */
  async run(words: string[], surroundings: Partial<Surroundings> = {}): Promise<Ended> {
    const child = this.start(words, surroundings);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  /** Starts a program as the image would: its user, its environment, its root read-only but for /tmp. */
  start(words: string[], surroundings: Partial<Surroundings> = {}): ChildProcess {
    const { user, environment } = readImage();
    const folder = readDockerfile()
      .at(-1)
      ?.instructions.findLast(({ keyword }) => keyword === 'WORKDIR')?.text as string;
    const defaults: Surroundings = { user, environment, folder, mounts: {}, readOnly: true, network: 'own' };
    const [program = '', ...rest] = entering(this.#root, words, { ...defaults, ...surroundings });
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#processes.push(child);
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** What stands in for the base image: its Node, npm and user. The machine's own programs are mounted when one runs. */
async function layBase(root: string): Promise<void> {
  const local = join(root, 'usr-local');
  for (const path of [join(local, 'bin'), join(local, 'lib/node_modules'), join(root, 'tmp'), join(root, 'data')])
    mkdirSync(path, { recursive: true });
  await chmod(join(root, 'tmp'), 0o1777);
  const node = join(repository, `node_modules/node-linux-${process.arch}/bin/node`);
  try {
    linkSync(node, join(local, 'bin/node'));
  } catch {
    // Another disk.
    await copyFile(node, join(local, 'bin/node'));
  }
  const npm = dirname(dirname(await realpath(process.env['npm_execpath'] ?? (programPath('npm') as string))));
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  await writeFile(join(root, 'passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/nonexistent:/bin/sh\n');
  for (const name of machineFolders) {
    const target = join(root, name);
    if (lstatSync(`/${name}`).isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), target);
    else mkdirSync(target);
  }
}

const machineFolders = ['bin', 'sbin', 'lib', 'lib64', 'usr', 'etc', 'proc', 'dev'].filter((name) =>
  existsSync(`/${name}`),
);

async function buildStage(stage: Stage, root: string, roots: ReadonlyMap<string, string>): Promise<void> {
  let user = '0:0';
  let folder = '/';
  const environment: Record<string, string> = {};
  for (const instruction of stage.instructions) {
    const { keyword, text } = instruction;
    if (keyword === 'WORKDIR') mkdirSync(join(root, (folder = text)), { recursive: true });
    else if (keyword === 'USER') user = text;
    else if (keyword === 'ENV') Object.assign(environment, Object.fromEntries(variablesOf(instruction)));
    else if (isCopy(instruction)) {
      const from = instruction.from === undefined ? repository : (roots.get(instruction.from) as string);
      copy(instruction, from, join(root, resolve(folder, instruction.target)));
    } else if (keyword === 'RUN') await runStep(instruction, root, { user, folder, environment });
  }
}

/** As COPY does: a folder's content goes into the target, files go below it. */
function copy({ sources, target, mode }: CopyInstruction, from: string, to: string): void {
  for (const source of sources) {
    const path = join(from, source);
    const isBelow = target.endsWith('/') && !lstatSync(path).isDirectory();
    const copied = isBelow ? join(to, source.split('/').at(-1) as string) : to;
    cpSync(path, copied, { recursive: true });
    if (mode !== undefined) execFileSync('chmod', ['-R', mode, copied]);
  }
}

async function runStep(
  { text }: Instruction,
  root: string,
  at: Pick<Surroundings, 'user' | 'folder' | 'environment'>,
): Promise<void> {
  // npm's own cache and settings of this machine, so that what was fetched before is not fetched again.
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  const settings = join(homedir(), '.npmrc');
  const outside = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i.test(name),
  ) as [string, string][];
  mkdirSync(cache, { recursive: true });
  const [program = '', ...rest] = entering(root, ['/bin/sh', '-c', text], {
    ...at,
    environment: {
      ...Object.fromEntries(outside),
      npm_config_cache: '/npm-cache',
      npm_config_prefer_offline: 'true',
      ...(existsSync(settings) ? { npm_config_userconfig: '/npmrc' } : {}),
      ...at.environment,
    },
    mounts: { '/npm-cache': cache, ...(existsSync(settings) ? { '/npmrc': settings } : {}) },
    readOnly: false,
    network: 'machine',
  });
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (line: string) => (told += line));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`RUN ${text}\nended with ${code}:\n${told}`);
}

/** The command that runs another one within a root folder, in namespaces of its own that end with it. */
function entering(
  root: string,
  words: string[],
  { user, environment, folder, mounts, readOnly, network }: Surroundings,
): string[] {
  const [uid, gid] = user.split(':');
  const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  const inside = (path: string) => quoted(join(root, path));
  for (const [target, source] of Object.entries(mounts)) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    mkdirSync(lstatSync(source).isDirectory() ? path : dirname(path), { recursive: true });
    if (!lstatSync(source).isDirectory()) writeFileSync(path, '');
  }
  const folders = machineFolders.filter((name) => !lstatSync(`/${name}`).isSymbolicLink());
  const script = [
    ...(network === 'own' ? ['ip link set lo up'] : []),
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    ...folders.map((name) => `mount --rbind /${name} ${inside(name)}`),
    `mount --bind ${inside('usr-local')} ${inside('usr/local')}`,
    `mount --bind ${inside('passwd')} ${inside('etc/passwd')}`,
    ...(readOnly
      ? ['', 'usr', 'usr/local', 'etc'].map((name) => `mount -o remount,bind,ro ${inside(name)}`)
      : [`mount -o remount,bind,ro ${inside('usr')}`, `mount -o remount,bind,ro ${inside('etc')}`]),
    `mount -t tmpfs tmpfs ${inside('tmp')}`,
    ...Object.entries(mounts).map(([target, source]) => `mount --bind ${quoted(source)} ${inside(target)}`),
    `exec chroot ${quoted(root)} "$@"`,
  ].join('\n');
  const isRoot = uid === '0';
  const drop = ['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  return [
    ...(typeof network === 'object' ? ['nsenter', `--net=/proc/${network.of}/ns/net`] : []),
    'unshare',
    '--mount',
    '--propagation',
    'private',
    ...(network === 'own' ? ['--net'] : []),
    'sh',
    '-euc',
    script,
    'sh',
    ...(isRoot ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...drop]),
    'env',
    '-i',
    `--chdir=${folder}`,
    `PATH=${systemPath}`,
    `HOME=${isRoot ? '/root' : '/nonexistent'}`,
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ...words,
  ];
}

function programPath(name: string): string | undefined {
  return `${process.env['PATH']}:/usr/sbin:/sbin`
    .split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}
