import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown, type OutputChunk } from 'rolldown';

const root = join(import.meta.dirname, '..');

/** Programs of processes and threads of their own, as `programFile` is asked for them. */
export const programs: readonly string[] = [
  'src/cli/main',
  'src/postbacks/store/store-worker',
  'src/postbacks/store/resend-worker',
  'src/pipeline/landing/files/check-file-worker',
  'src/pipeline/ingest/trial-process',
  'src/pipeline/analysis/query-process/query-program',
  'src/pipeline/analysis/query-process/memory-watch',
];

/** Native, so npm installs it. */
const dependency = '@duckdb/node-bindings';
/** Packages that others load where somebody has installed them; nobody does. */
const neverInstalled = ['canvas', '@node-rs/xxhash'];

/** Tracked files of the package, at the same paths as in the repository, by what git calls them. */
const files = [
  'CHANGELOG.md',
  'README.md',
  'SECURITY.md',
  'data',
  'pipelines/*.md',
  'sql',
  'src/*.md',
  'src/console/static',
  'src/kit/html/base.css',
  'src/serve/portal/portal.css',
  'src/offerline.mjs',
  'src/pipeline/ingest/engine/spark',
  'src/sources/connectors/networks',
  'src/start-node.mjs',
];

const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', '../LICENSE'];

/**
 * Makes the package in a folder, which is emptied before: JavaScript in few files with all packages that can be in it,
 * the files that it reads, and a `package.json` that asks npm for the rest.
 */
export async function makePackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const chunks = await bundle(folder);
  assertKnownImports(chunks);
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...files], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of list.split('\0').filter((path) => path !== '')) cpSync(join(root, file), join(folder, file));
  const { resolve } = createRequire(import.meta.url);
  const swagger = dirname(resolve('@fastify/swagger-ui/static/swagger-ui.css'));
  for (const file of swaggerFiles) cpSync(join(swagger, file), join(folder, 'swagger-ui', file.replace('../', '')));
  writeFileSync(join(folder, 'licenses.txt'), licensesOf(chunks));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

async function bundle(folder: string): Promise<OutputChunk[]> {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(programs.map((program) => [program, `${program}.ts`])),
    platform: 'node',
    external: [new RegExp(`^${dependency}(/|$)`), ...neverInstalled],
  });
  try {
    const { output } = await build.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    });
    return output.filter((part) => part.type === 'chunk');
  } finally {
    await build.close();
  }
}

/** Throws where a package is neither in the bundle nor installed by npm. */
function assertKnownImports(chunks: readonly OutputChunk[]): void {
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const known = [...builtinModules, ...neverInstalled];
  const unknown = chunks
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((name) => !own.has(name) && !name.startsWith('node:') && !known.includes(name))
    .filter((name) => name !== dependency && !name.startsWith(`${dependency}/`));
  if (unknown.length > 0) throw new Error(`the bundle leaves out ${unknown.join(', ')}: see release/bundle.ts`);
}

/** The licenses of the packages in the bundle; packages with the same text share it. */
function licensesOf(chunks: readonly OutputChunk[]): string {
  const folders = new Set(
    chunks.flatMap(({ moduleIds }) =>
      moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
    ),
  );
  const packagesByText = Map.groupBy([...folders].toSorted(), (folder) => {
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return file === undefined ? String(manifestIn(folder).license) : readFileSync(join(folder, file), 'utf8').trim();
  });
  const named = (folder: string) => `${manifestIn(folder).name} ${manifestIn(folder).version}`;
  return [...packagesByText]
    .map(([text, packages]) => `${packages.map(named).join('\n')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

interface Manifest {
  name: string;
  version: string;
  license?: unknown;
  description?: string;
  engines?: object;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function manifest(): object {
  const { name, version, description, license, engines, optionalDependencies } = manifestIn(root);
  return {
    name,
    version,
    description,
    license,
    private: true,
    type: 'module',
    engines,
    bin: { offerline: 'src/offerline.mjs' },
    dependencies: { [dependency]: manifestIn(join(root, 'node_modules', dependency)).version },
    // The pinned Node, one for each platform; npm installs that of the machine.
    optionalDependencies,
  };
}

/** Packs the package that is in a folder; returns the path of its tarball, which is made in the other folder. */
export function packPackage(folder: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  const npm = process.env['npm_execpath'];
  const words = ['pack', folder, '--pack-destination', destination, '--json', '--loglevel=error'];
  const answer =
    npm === undefined
      ? execFileSync('npm', words, { cwd: root, encoding: 'utf8' })
      : execFileSync(process.execPath, [npm, ...words], { cwd: root, encoding: 'utf8' });
  const [{ filename } = { filename: '' }] = JSON.parse(answer) as { filename: string }[];
  return join(destination, filename);
}
