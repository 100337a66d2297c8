import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { afterAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { parseSettings } from '../../src/kit/config/settings.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { readSites } from '../../src/kit/sites/sites.ts';
import { unnamedProxy } from '../../src/tracker/server/unnamed-proxy.ts';
import { networksOf, readCompose, type Service } from './compose.ts';
import { isCopy, readDockerfile, readImage, repository } from './dockerfile.ts';

const text = (path: string) => readFileSync(join(repository, path), 'utf8');
const project = JSON.parse(text('package.json')) as {
  version: string;
  scripts: Record<string, string>;
  optionalDependencies: Record<string, string>;
};
const image = readImage();
const compose = readCompose();
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const running = (command: string) => services.filter(([, service]) => service.command?.[0] === command);

/** The secrets, as a new machine makes them. */
const folder = mkdtempSync(join(tmpdir(), 'offerline-secrets-'));
const secrets = join(folder, 'secrets');
const newSecrets = () => execFileSync('sh', [join(repository, 'data/fleet/new-secrets.sh'), secrets]);
newSecrets();
const secret = (name: string) => readFileSync(join(secrets, name), 'utf8').trim();
afterAll(() => rmSync(folder, { recursive: true }));

const program = await createProgram({
  terminal: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress },
  print: () => {},
});

/** What is wrong with a command line of ours: a command or an option that there is not. */
function mistakesOf([name = '', ...options]: readonly string[]): string[] {
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return [`there is no ${name}`];
  return options.filter((word) => word.startsWith('--') && command.options.every(({ long }) => long !== word));
}

/** The settings that a service has, checked as the program does. */
function settingsOf({ configs = [] }: Service) {
  const mounted = configs.find(({ target }) => target === `${image.environment['OFFERLINE_DATA']}/offerline.json`);
  const file = compose.configs[mounted?.source ?? '']?.file ?? '';
  return parseSettings(text(file), file);
}

/** Secrets that settings name as files, wherever they stand in them. */
function filesIn(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([key, value]) =>
    key === 'file' && typeof value === 'string' ? [value] : filesIn(value),
  );
}

/** What a service reaches under a host's name and port, through a network that both are in. */
function reaches(from: Service, address: string): string[] {
  const { hostname, port } = new URL(address);
  const to = compose.services[hostname];
  if (to === undefined) return [`there is no service ${hostname}`];
  const common = networksOf(from).filter((network) => networksOf(to).includes(network));
  const listening = to.build === undefined ? portsOf[basename(to.image.split(':')[0] ?? '')] : settingsOf(to).port;
  return [
    ...(common.length > 0 ? [] : [`no network leads to ${hostname}`]),
    ...(Number(port) === listening ? [] : [`${hostname} listens on ${listening}, not on ${port}`]),
  ];
}
/** Where the images of others listen. */
const portsOf: Record<string, number> = { redis: 6379, postgres: 5432, seaweedfs: 8333 };

describe('the Dockerfile', () => {
  const instructions = readDockerfile().flatMap((stage) => stage.instructions);

  it('takes the Node that package.json pins', () => {
    const versions = ['x64', 'arm64'].map((machine) => project.optionalDependencies[`node-linux-${machine}`]);
    expect(new Set(versions).size).toBe(1);
    for (const stage of readDockerfile()) expect(stage.image).toBe(`node:${versions[0]}-bookworm-slim`);
  });

  it('copies what is in the repository, and its build is given that alone', () => {
    const sources = instructions.filter(isCopy).flatMap((each) => (each.from === undefined ? each.sources : []));
    for (const source of sources)
      expect(execFileSync('git', ['ls-files', source], { cwd: repository, encoding: 'utf8' }), source).not.toBe('');
    const [first, ...rest] = text('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rest.toSorted()).toEqual([...new Set(sources)].map((source) => `!${source}`).toSorted());
  });

  it('starts a command that there is, without a shell and not as root', () => {
    expect(image.entrypoint).toEqual(['node', '/app/src/cli/main.ts']);
    expect(existsSync(join(repository, 'src/cli/main.ts'))).toBe(true);
    expect(mistakesOf(image.command)).toEqual([]);
    expect(Number.parseInt(image.user, 10)).toBeGreaterThan(0);
    expect(image.stopSignal).toBe('SIGTERM');
  });

  it('sets what the program or its launcher reads', () => {
    const readers = ['src/kit/config/data-directory.ts', 'src/launch.mjs'].map(text).join('');
    const known = Object.keys(image.environment).filter((name) => name !== 'NODE_ENV');
    expect(known.filter((name) => !readers.includes(name))).toEqual([]);
    expect(known).toContain('OFFERLINE_DATA');
  });
});

describe('compose.yaml', () => {
  it.each(services)('%s has a read-only root, no right that it does not need, and no root user', (_name, service) => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.tmpfs).toContain('/tmp');
    const user = service.user ?? (service.build === undefined ? undefined : image.user);
    expect(user).toBeDefined();
    expect(user).not.toMatch(/^(0|root)\b/);
  });

  it.each(services)('%s is of an exact version', (_name, service) => {
    const [, tag = ''] = service.image.split(':');
    const isExact = service.build === undefined ? /^\d+\.\d+(\.\d+)?$/.test(tag) : tag === project.version;
    expect(isExact, service.image).toBe(true);
  });

  it('looks at the health of all that goes on, ours by a command that the image has', () => {
    const unwatched = services.filter(([, { build, healthcheck }]) => build === undefined && !healthcheck?.test);
    expect(unwatched).toEqual([]);
    const disabled = services.filter(([, { healthcheck }]) => healthcheck?.disable).map(([name]) => name);
    expect(disabled).toEqual(services.filter(([, { restart }]) => restart === 'no').map(([name]) => name));
    for (const [name, { healthcheck }] of running('schedule')) {
      const [kind, command, ...words] = healthcheck?.test ?? [];
      expect([kind, command], name).toEqual(['CMD', 'offerline']);
      expect(mistakesOf(words), name).toEqual([]);
    }
  });

  it.each(services)('%s names only what is declared, and waits only for what can come', (_name, service) => {
    const declared = (names: readonly string[], where: object) => names.filter((name) => !Object.hasOwn(where, name));
    const volumes = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    expect(declared(networksOf(service), compose.networks)).toEqual([]);
    expect(
      declared(
        volumes.filter((name) => !name.startsWith('.')),
        compose.volumes,
      ),
    ).toEqual([]);
    expect(volumes.filter((name) => name.startsWith('.') && !existsSync(join(repository, name)))).toEqual([]);
    expect(
      declared(
        (service.configs ?? []).map(({ source }) => source),
        compose.configs,
      ),
    ).toEqual([]);
    expect(declared(service.secrets ?? [], compose.secrets)).toEqual([]);
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const awaited = compose.services[name];
      expect(awaited, name).toBeDefined();
      expect(awaited?.restart === 'no').toBe(condition === 'service_completed_successfully');
    }
  });

  it('uses all that it declares, and gives each volume to one service', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0] ?? ''));
    const named = mounted.filter((name) => !name.startsWith('.'));
    expect(named.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
    const all = (names: (service: Service) => string[]) => [...new Set(services.flatMap(([, each]) => names(each)))];
    expect(all(networksOf).toSorted()).toEqual(Object.keys(compose.networks).toSorted());
    expect(all(({ secrets: names = [] }) => names).toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
    expect(all(({ configs = [] }) => configs.map(({ source }) => source)).toSorted()).toEqual(
      Object.keys(compose.configs).toSorted(),
    );
  });

  it('mounts files that there are, and secrets that new-secrets.sh makes', () => {
    for (const { file } of Object.values(compose.configs)) expect(existsSync(join(repository, file)), file).toBe(true);
    expect(
      Object.values(compose.secrets)
        .map(({ file }) => basename(file))
        .toSorted(),
    ).toEqual(readdirSync(secrets).toSorted());
  });

  it('lets other machines reach nothing, and only the proxy be reached from this one', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([['proxy', '127.0.0.1:8080:8080']]);
    expect(compose.networks['back']?.internal).toBe(true);
  });

  it.each(ours)('%s has settings that can be used, and the secrets that they name', (_name, service) => {
    const settings = settingsOf(service);
    const named = filesIn(settings).map((file) => file.replace('/run/secrets/', ''));
    // Whoever only makes the bucket is not given the other secrets of the same settings.
    const expected = service.restart === 'no' ? named.filter((name) => name.startsWith('storage_')) : named;
    expect(service.secrets?.toSorted()).toEqual(expected.toSorted());
    expect(reaches(service, settings.storage?.endpoint ?? '')).toEqual([]);
  });

  it.each([...running('serve'), ...running('schedule')])(
    '%s runs a command that there is, on data of its own',
    (_name, service) => {
      expect(mistakesOf(service.command ?? [])).toEqual([]);
      const data = image.environment['OFFERLINE_DATA'];
      expect(service.volumes?.filter((volume) => volume.endsWith(`:${data}`))).toHaveLength(1);
      expect(service.configs).toContainEqual({ source: 'sites', target: `${data}/sites.json` });
      const { sites } = readSites(join(repository, compose.configs['sites']?.file ?? ''));
      expect(sites.length).toBeGreaterThan(0);
    },
  );

  it('has services that follow what the schedules write, behind a proxy that they believe', () => {
    expect(running('schedule').map(([name]) => name)).toEqual(['writer', 'standby']);
    const [writer, standby] = running('schedule').map(([, service]) => service);
    expect({ ...writer, volumes: writer?.volumes?.slice(1) }).toEqual({
      ...standby,
      volumes: standby?.volumes?.slice(1),
    });

    const servers = running('serve');
    const proxy = compose.services['proxy'] as Service;
    const { storage } = settingsOf(writer as Service);
    const upstreams = /reverse_proxy (.*) \{/.exec(text('data/fleet/Caddyfile'))?.[1]?.split(' ') ?? [];
    expect(upstreams.map((each) => each.split(':')[0])).toEqual(servers.map(([name]) => name));
    expect(upstreams.flatMap((each) => reaches(proxy, `http://${each}`))).toEqual([]);
    for (const [, service] of servers) {
      const settings = settingsOf(service);
      expect(settings.storage).toEqual({ ...storage, follow: true });
      expect(settings.host).toBe('0.0.0.0');
      // The health of the image's own is asked there.
      expect(image.healthcheck.join(' ')).toContain(`127.0.0.1:${settings.port}/readyz`);
      expect(settings).toMatchObject({ limits: { servers: servers.length } });
      const { front } = proxy.networks as Record<string, { ipv4_address: string }>;
      expect(settings.trusted_proxies).toEqual([front?.ipv4_address]);
      const subnet = compose.networks['front']?.ipam?.config[0]?.subnet ?? '';
      expect(ipaddr.parse(front?.ipv4_address ?? '').match(ipaddr.parseCIDR(subnet))).toBe(true);
      expect(reaches(service, secret('redis_address'))).toEqual([]);
    }
    expect(reaches(writer as Service, secret('postgres_address'))).toEqual([]);
  });
});

describe('the guide to set-ups', () => {
  const guide = text('pipelines/README.md');

  it('shows settings that can be used', () => {
    const blocks = [...guide.matchAll(/^```json\n([^]*?)^```/gm)].map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(() => parseSettings(block, 'pipelines/README.md')).not.toThrow();
  });

  it('lets service and tracker of one machine be reached behind a proxy that they believe', () => {
    const one = /^### One machine\n([^]*?)^### /m.exec(guide)?.[1] ?? '';
    const settings = parseSettings(/^```json\n([^]*?)^```/m.exec(one)?.[1] ?? '', 'pipelines/README.md');
    const { port, tracker } = settings;
    expect([settings.host, tracker.host]).toEqual(['0.0.0.0', '0.0.0.0']);
    const published = [...one.matchAll(/ -p (\S+)/g)].map(([, ports]) => ports);
    expect(published).toEqual([port, tracker.port].map((each) => `127.0.0.1:${each}:${each}`));
    const exposed = readDockerfile()
      .at(-1)
      ?.instructions.find(({ keyword }) => keyword === 'EXPOSE');
    expect(exposed?.text).toBe(`${port} ${tracker.port}`);
    expect(settings.tracking_url).toMatch(/^https:/);
    expect(unnamedProxy(settings)).toBeUndefined();
    const site = /^```caddy\n([^]*?)^```/m.exec(one)?.[1];
    for (const url of [settings.public_url, settings.tracking_url]) expect(site).toContain(new URL(url ?? '').host);
  });

  it('asks the fleet as a site of the network that is served', () => {
    const address = /curl '([^']+)'/.exec(guide)?.[1] ?? '';
    const { searchParams, port } = new URL(address);
    const { sites } = readSites(join(repository, compose.configs['sites']?.file ?? ''));
    const asking = Object.fromEntries(searchParams);
    expect(sites.map(({ site_key, site_secret }) => ({ site_key, site_secret }))).toContainEqual(asking);
    expect(compose.services['proxy']?.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  });
});

describe('new-secrets.sh', () => {
  it('makes passwords that fit each other, in a folder that others cannot enter', () => {
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    expect(new URL(secret('postgres_address')).password).toBe(secret('postgres_password'));
    const { POSTGRES_USER, POSTGRES_DB } = compose.services['postgres']?.environment ?? {};
    expect(new URL(secret('postgres_address'))).toMatchObject({ username: POSTGRES_USER, pathname: `/${POSTGRES_DB}` });
    expect(secret('redis_conf')).toBe(`requirepass ${new URL(secret('redis_address')).password}`);
    expect(JSON.parse(secret('storage_identities'))).toMatchObject({
      identities: [{ credentials: [{ accessKey: secret('storage_key_id'), secretKey: secret('storage_secret_key') }] }],
    });
    expect(new Set(['postgres_password', 'redis_conf', 'storage_key_id', 'storage_secret_key'].map(secret)).size).toBe(
      4,
    );
    expect(secret('postgres_password')).toMatch(/^[0-9a-f]{48}$/);
  });

  it('changes nothing where there are some', () => {
    const before = readdirSync(secrets).map(secret);
    newSecrets();
    expect(readdirSync(secrets).map(secret)).toEqual(before);
  });
});
