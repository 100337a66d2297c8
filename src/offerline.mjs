#!/usr/bin/env node
/**
 * `offerline` of an installed package: runs the commands with the Node that the package pins, whatever Node the machine
 * has (20 or newer); where npm left that one out, with the machine's own, if it is new enough.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { neededNode, nodePackageName, oldestNode, startNode } from './start-node.mjs';

const own = Number(process.versions.node.split('.')[0]);
const nodeBinary = pinnedNode() ?? (own >= neededNode ? process.execPath : undefined);
if (own < oldestNode || nodeBinary === undefined) {
  console.error(
    `offerline needs Node ${neededNode}, this is ${process.versions.node}: ` +
      (own < oldestNode
        ? `install one from https://nodejs.org`
        : `install the package without --omit=optional, which brings one in ${nodePackageName}, or run it with a newer Node`),
  );
  process.exitCode = 1;
} else {
  const main = join(dirname(fileURLToPath(import.meta.url)), 'cli', 'main.js');
  startNode(nodeBinary, [main, ...process.argv.slice(2)], {}, 'install the package again');
}

function pinnedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${nodePackageName}/package.json`);
    const binary = join(dirname(manifest), 'bin', 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
