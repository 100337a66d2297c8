import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { ownerOfServer, type PostgresServer } from './postgres-server.ts';

/** Where Debian has it, which is not in everybody's path. */
const debianFolder = '/usr/sbin';

/** A PgBouncer of its own before a PostgreSQL, on loopback, gone when the running test ends. */
export class PgBouncer {
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async forTest(server: PostgresServer, settings: Record<string, string | number>): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'offerline-pgbouncer-'));
    const port = await freePort();
    const users = join(folder, 'users.txt');
    const file = join(folder, 'pgbouncer.ini');
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: users,
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    await writeFile(users, `"offerline" "${server.password}"\n`);
    await writeFile(
      file,
      ['[databases]', `* = host=127.0.0.1 port=${server.port}`, '[pgbouncer]', ...lines, ''].join('\n'),
    );
    const owner = ownerOfServer();
    for (const path of [folder, users, file]) await chown(path, owner.uid, owner.gid);
    const child = spawn('pgbouncer', [file], {
      ...owner,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${debianFolder}` },
    });
    onTestFinished(async () => {
      await end(child);
      await rm(folder, { recursive: true });
    });
    await ready(child);
    return new PgBouncer(port);
  }

  /** The address of a database of its server, by way of it. */
  address(direct: string): string {
    const address = new URL(direct);
    address.port = String(this.#port);
    return address.href;
  }
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let told = '';
    child.once('error', (error) =>
      reject(
        new Error('pgbouncer cannot be started: install it (Debian: apt-get install pgbouncer)', { cause: error }),
      ),
    );
    child.once('exit', (code) => reject(new Error(`PgBouncer ended with ${code}: ${told}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      told = (told + chunk.toString()).slice(-4000);
      if (told.includes('process up')) resolve();
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
