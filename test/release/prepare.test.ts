import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { prepareRelease } from '../../release/prepare.ts';
import { packageFile } from '../../src/kit/files/package-files.ts';

let root: string;
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' });
const ours = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function commit(): void {
  git('add', '--all');
  execFileSync('git', ['commit', '--quiet', '-m', 'all'], { cwd: root, env: { ...process.env, ...ours } });
}

const image = 'docker build -t offerline:0.2.0 .\nnpm install ./offerline-0.2.0.tgz\n';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'offerline-release-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  git('init', '--quiet');
  write(
    'CHANGELOG.md',
    '# Changelog\n\n## Unreleased\n\n### Added\n\n- Something.\n\n## 0.2.0, 2026-11-26\n\n- Much.\n',
  );
  write('package.json', '{\n  "name": "offerline",\n  "version": "0.2.0"\n}\n');
  write(
    'package-lock.json',
    '{\n "version": "0.2.0",\n "packages": {"": {"version": "0.2.0", "dependencies": {}}, "other": {"version": "0.2.0"}}}\n',
  );
  for (const file of ['README.md', 'compose.yaml', 'pipelines/README.md']) write(file, image);
  for (const file of ['serve.yaml', 'writer.yaml']) write(`data/deploy/kubernetes/${file}`, image);
  commit();
});

it('writes the version wherever it is named, and the day into the changelog', () => {
  const written = prepareRelease(root, '0.3.0', '2027-01-31');
  expect(written).toHaveLength(8);
  expect(read('CHANGELOG.md')).toContain('## 0.3.0, 2027-01-31\n\n### Added\n\n- Something.\n\n## 0.2.0, 2026-11-26');
  expect(JSON.parse(read('package.json'))).toMatchObject({ version: '0.3.0' });
  expect(JSON.parse(read('package-lock.json'))).toEqual({
    version: '0.3.0',
    packages: { '': { version: '0.3.0', dependencies: {} }, other: { version: '0.2.0' } },
  });
  expect(read('pipelines/README.md')).toBe(image.replaceAll('0.2.0', '0.3.0'));
});

it('leaves files alone that have the version already', () => {
  write('CHANGELOG.md', '## 0.2.0, 2026-11-26\n\n- Much.\n');
  commit();
  expect(prepareRelease(root, '0.2.0', '2027-01-31')).toEqual([]);
});

it.each<[what: string, version: string, spoil: () => void, message: RegExp]>([
  ['changes that are not committed', '0.3.0', () => write('new.txt', 'x'), /commit or stash.*\n\?\? new\.txt/],
  ['a version that is none', 'next', () => undefined, /"next" is no version/],
  ['a lower version', '0.1.9', () => undefined, /0\.1\.9 is lower than 0\.2\.0/],
  ['a version that was tagged', '0.3.0', () => git('tag', 'v0.3.0'), /v0\.3\.0 is a tag already/],
  [
    'a changelog without the version',
    '0.3.0',
    () => {
      write('CHANGELOG.md', '## 0.2.0, 2026-11-26\n\n- Much.\n');
      commit();
    },
    /begins with "0\.2\.0, 2026-11-26": it needs a section "Unreleased" or "0\.3\.0"/,
  ],
  [
    'a changelog that says nothing',
    '0.3.0',
    () => {
      write('CHANGELOG.md', '## Unreleased\n\n## 0.2.0, 2026-11-26\n\n- Much.\n');
      commit();
    },
    /lists no change under "Unreleased"/,
  ],
])('refuses %s, and writes nothing', (_what, version, spoil, message) => {
  spoil();
  const before = git('status', '--porcelain');
  expect(() => prepareRelease(root, version, '2027-01-31')).toThrow(message);
  expect(git('status', '--porcelain')).toBe(before);
});

it('knows every file that names the version', () => {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string };
  const named = execFileSync(
    'git',
    ['grep', '-lE', `offerline[:-]${version.replaceAll('.', '[.]')}`, '--', ':!test', ':!CHANGELOG.md'],
    {
      cwd: packageFile(''),
      encoding: 'utf8',
    },
  );
  expect(named.trim().split('\n').toSorted()).toEqual(
    [
      'README.md',
      'compose.yaml',
      'data/deploy/kubernetes/serve.yaml',
      'data/deploy/kubernetes/writer.yaml',
      'pipelines/README.md',
    ].toSorted(),
  );
});
