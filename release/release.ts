/**
 * `npm run release -- VERSION`: checks that the checkout can be released, writes the version into its files, keeps a
 * data directory of it for tests of later versions, commits, packs into `dist`, tags, and prints what is left to do. It
 * sends nothing anywhere.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makePackage, packPackage } from './bundle.ts';
import { prepareRelease, ReleaseError } from './prepare.ts';

const root = join(import.meta.dirname, '..');
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

try {
  const version = process.argv[2] ?? '';
  const written = prepareRelease(root, version, new Date().toISOString().slice(0, 10));
  const kept = `test/upgrade/kept/${version}.tar.gz`;
  if (!existsSync(join(root, kept))) {
    execFileSync(process.execPath, [...process.execArgv, join(root, 'release/keep-directory.ts'), join(root, kept)]);
    written.push(kept);
  }
  if (written.length > 0) {
    git('add', '--', ...written);
    git('commit', '--quiet', '-m', `release: ${version}`);
  }
  const folder = join(root, 'dist/package');
  await makePackage(folder);
  const tarball = packPackage(folder, join(root, 'dist'));
  git('tag', '--annotate', `v${version}`, '-m', `offerline ${version}`);
  process.stdout.write(`${tarball} is packed and v${version} is a tag here. Next:

  .ci/run                                    # undo by: git tag -d v${version}${written.length > 0 ? ' && git reset --hard HEAD~1' : ''}
  npm run -s test:package
  docker build -t offerline:${version} .
  git push --follow-tags
  sha256sum ${tarball}    # beside the file, where it is offered
`);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
