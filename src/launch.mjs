/**
 * node src/launch.mjs [Node's options…] <file.ts | vitest | tsc | oxlint | prettier | depcruise> [arguments…]
 *
 * Runs a program of the checkout with the Node that the project pins, whatever Node the machine has (20 or
 * newer), and installs the packages before where they are missing or no longer those of package-lock.json.
 * Plain JavaScript, since it has to run before anything is installed. Prints to standard error only.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { neededNode, nodePackageName, oldestNode, startNode } from './start-node.mjs';

const installWaitMinutes = 10;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
// npm installs the one for this platform, by its hash in the lock file.
const nodePackage = join(modules, nodePackageName);
const nodeBinary = join(nodePackage, 'bin', 'node');
const installLock = join(root, 'install-lock.tmp');

/** The package, and the program in it, by the tool's name. */
const tools = {
  vitest: join(modules, 'vitest', 'vitest.mjs'),
  tsc: join(modules, 'typescript-native', 'bin', 'tsc'),
  oxlint: join(modules, 'oxlint', 'bin', 'oxlint'),
  prettier: join(modules, 'prettier', 'bin', 'prettier.cjs'),
  depcruise: join(modules, 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs'),
};

try {
  if (Number(process.versions.node.split('.')[0]) < oldestNode) {
    throw new Error(
      `offerline needs Node ${oldestNode} or newer, this is ${process.versions.node}; install one from https://nodejs.org`,
    );
  }
  const words = process.argv.slice(2);
  // Such as --inspect-brk, which has to reach the program's Node and not this one.
  const first = words.findIndex((word) => !word.startsWith('-'));
  const nodeOptions = first === -1 ? words : words.slice(0, first);
  const [target, ...programArguments] = words.slice(nodeOptions.length);
  const program = target && (tools[target] ?? (target.endsWith('.ts') && resolve(root, target)));
  if (!program)
    throw new Error(
      `usage: node src/launch.mjs [Node's options…] <file.ts | ${Object.keys(tools).join(' | ')}> [arguments…]`,
    );
  if (!isInstalled()) await install();
  if (!existsSync(program)) throw new Error(`${program} does not exist`);
  run([...nodeOptions, program, ...programArguments]);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/**
 * Returns true where node_modules holds what package-lock.json asks for, by npm's own record of what it installed,
 * which it writes last. So it does not matter who ran npm. Packages for other platforms are never installed.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(modules, '.package-lock.json'));
  if (wanted === undefined)
    throw new Error(`${join(root, 'package-lock.json')} is missing or broken; restore it, e.g. by git checkout`);
  if (present === undefined || !existsSync(nodeBinary)) return false;
  return Object.entries(wanted).every(
    ([path, { version, integrity, optional }]) =>
      path === '' ||
      (present[path] === undefined
        ? optional
        : present[path].version === version && present[path].integrity === integrity),
  );
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** One installation at a time: a second launch waits for the first and then finds everything there. */
async function install() {
  const release = await lockInstallation();
  try {
    if (isInstalled()) return;
    console.error('Installing the packages of package-lock.json …');
    // Under `npm run` that npm's own path is in the environment. It also hands down -s, which would hide errors.
    const [command, ...before] = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
    const options = [
      'ci',
      '--include=dev',
      '--include=optional',
      '--loglevel=error',
      '--no-audit',
      '--no-fund',
      '--no-progress',
    ];
    const { status, error } = spawnSync(command, [...before, ...options], { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0)
      throw new Error(`npm ci failed${error ? `: ${error.message}` : ''}; see above, then run the command again`);
    if (!isInstalled()) {
      throw new Error(
        `npm ci did not install ${nodePackage}: its download does not have the hash of package-lock.json, ` +
          `or package.json has no such package`,
      );
    }
  } finally {
    release();
  }
}

/** A directory that appears whole, with its owner's process id in it, or not at all. */
async function lockInstallation() {
  const mine = `${installLock}.${process.pid}`;
  rmSync(mine, { recursive: true, force: true });
  mkdirSync(mine);
  writeFileSync(join(mine, 'pid'), String(process.pid));
  try {
    for (let waited = 0; ; waited += 1) {
      try {
        renameSync(mine, installLock);
        return () => rmSync(installLock, { recursive: true, force: true });
      } catch (error) {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      }
      if (isAbandoned()) rmSync(installLock, { recursive: true, force: true });
      else if (waited === 0) console.error('Waiting for another launch to install the packages …');
      else if (waited > installWaitMinutes * 60 * 5)
        throw new Error(
          `Another launch has been installing for ${installWaitMinutes} minutes; if there is none, remove ${installLock}`,
        );
      await setTimeout(200);
    }
  } finally {
    rmSync(mine, { recursive: true, force: true });
  }
}

function isAbandoned() {
  try {
    const owner = Number(readFileSync(join(installLock, 'pid'), 'utf8'));
    // A container gives the same process id again after a kill.
    if (owner === process.pid) return true;
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function run(words) {
  const version = JSON.parse(readFileSync(join(nodePackage, 'package.json'), 'utf8')).version;
  if (Number(version.split('.')[0]) !== neededNode)
    throw new Error(`${nodeBinary} is Node ${version}, the project needs ${neededNode}; run npm ci`);
  const environment = {
    // What the program starts by name, such as oxlint's type checker, comes from the checkout too.
    PATH: [join(modules, '.bin'), process.env.PATH].filter(Boolean).join(delimiter),
    // Where Node keeps compiled code by default, but from the first file on: for that one alone the stripper of types
    // would be loaded, which takes a tenth of a second.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(os.tmpdir(), 'node-compile-cache'),
  };
  startNode(nodeBinary, words, environment, 'remove node_modules and run the command again');
}
