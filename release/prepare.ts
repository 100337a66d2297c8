import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pages and files that name the image of the version. */
const imageFiles = [
  'README.md',
  'compose.yaml',
  'pipelines/README.md',
  'data/deploy/kubernetes/serve.yaml',
  'data/deploy/kubernetes/writer.yaml',
];

/** What cannot be released, with what to do. */
export class ReleaseError extends Error {}

/**
 * Checks that a checkout can be released as that version, and writes the version into its files. Returns the files that
 * it wrote. `day`: of the release, as `2026-11-26`. Throws `ReleaseError`, with nothing changed, for uncommitted
 * changes, a version that is lower or already tagged, and a CHANGELOG.md that says nothing of it.
 */
export function prepareRelease(root: string, version: string, day: string): string[] {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new ReleaseError(`"${version}" is no version such as 0.3.0`);
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new ReleaseError(`commit or stash these changes first:\n${changed}`);
  if (git('tag', '--list', `v${version}`) !== '')
    throw new ReleaseError(`v${version} is a tag already: take a higher one`);
  const { version: current } = JSON.parse(read('package.json')) as { version: string };
  if (compareVersions(version, current) < 0) throw new ReleaseError(`${version} is lower than ${current}`);
  const changelog = releasedChangelog(read('CHANGELOG.md'), version, day);

  const texts = new Map<string, string>([
    ['CHANGELOG.md', changelog],
    ['package.json', read('package.json').replace(`"version": "${current}"`, `"version": "${version}"`)],
    ['package-lock.json', lockedVersion(read('package-lock.json'), current, version)],
    ...imageFiles.map((file): [string, string] => [
      file,
      read(file)
        .replaceAll(`offerline:${current}`, `offerline:${version}`)
        .replaceAll(`offerline-${current}.tgz`, `offerline-${version}.tgz`),
    ]),
  ]);
  const written = [...texts].filter(([file, text]) => text !== read(file));
  for (const [file, text] of written) writeFileSync(join(root, file), text);
  return written.map(([file]) => file);
}

/**
 * Returns CHANGELOG.md with the version and its day in place of "Unreleased", or as it is where its first section is of
 * that version. Throws `ReleaseError` where that section says nothing.
 */
function releasedChangelog(text: string, version: string, day: string): string {
  const [, title = '', section = ''] = /^## (.*)\n([^]*?)(?=^## |$(?![^]))/m.exec(text) ?? [];
  const isReleased = title === version || title.startsWith(`${version}, `);
  if (title !== 'Unreleased' && !isReleased)
    throw new ReleaseError(`CHANGELOG.md begins with "${title}": it needs a section "Unreleased" or "${version}"`);
  if (!section.includes('\n- ')) throw new ReleaseError(`CHANGELOG.md lists no change under "${title}"`);
  return isReleased ? text : text.replace('## Unreleased\n', `## ${version}, ${day}\n`);
}

function compareVersions(one: string, other: string): number {
  const others = other.split('.').map(Number);
  const differences = one.split('.').map((number, index) => Number(number) - (others[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

/** The lock file names the project's own version twice at its beginning; packages may have the same further down. */
function lockedVersion(text: string, current: string, version: string): string {
  const end = text.indexOf('"dependencies"');
  const own = text.slice(0, end).replaceAll(`"version": "${current}"`, `"version": "${version}"`);
  return own + text.slice(end);
}
