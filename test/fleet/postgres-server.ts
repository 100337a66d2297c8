import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';

const password = 'p@ss/wörd of tests';
const debianFolder = '/usr/lib/postgresql';

/** A PostgreSQL of its own on loopback, in a temporary folder. */
export class PostgresServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #owner: Owner;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(folder: string, port: number, owner: Owner) {
    this.#folder = folder;
    this.#port = port;
    this.#owner = owner;
  }

  /** Throws where PostgreSQL is not installed, saying how it is. */
  static async start(): Promise<PostgresServer> {
    const initdb = program('initdb');
    const owner = ownerOfServer();
    const folder = await mkdtemp(join(tmpdir(), 'offerline-postgres-'));
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, password);
    for (const path of [folder, passwordFile]) await chown(path, owner.uid, owner.gid);
    const words = ['-D', join(folder, 'data'), '-U', 'offerline', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
    execFileSync(initdb, [...words, '-E', 'UTF8', '--locale=C.UTF-8'], { ...owner, cwd: folder, stdio: 'pipe' });
    const server = new PostgresServer(folder, await freePort(), owner);
    await server.run();
    return server;
  }

  /** The address of a new, empty database. */
  async database(): Promise<string> {
    const name = `deliveries_${++this.#databases}`;
    await this.query('postgres', `CREATE DATABASE ${name}`);
    return this.address(name);
  }

  address(database: string): string {
    return `postgres://offerline:${encodeURIComponent(password)}@127.0.0.1:${this.#port}/${database}`;
  }

  get port(): number {
    return this.#port;
  }

  get password(): string {
    return password;
  }

  async query(database: string, text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.address(database) });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async run(): Promise<void> {
    const words = ['-D', join(this.#folder, 'data'), '-p', String(this.#port)];
    const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
    const child = spawn(program('postgres'), [...words, ...settings], {
      ...this.#owner,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      let told = '';
      child.stderr.on('data', (chunk: Buffer) => {
        told = (told + chunk.toString()).slice(-4000);
        if (told.includes('ready to accept connections')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${told}`)));
    });
  }

  /** As after a loss of power: nobody is waited for, and it has to recover when it runs again. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

export interface Owner {
  uid: number;
  gid: number;
}

/** PostgreSQL and its pools refuse to run as root. */
export function ownerOfServer(): Owner {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function program(name: string): string {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debianFolder, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`there is no ${name} here: install PostgreSQL (Debian: apt-get install postgresql)`);
  return found;
}
