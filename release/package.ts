/**
 * `npm run -s package [-- folder]`: makes the installable tarball in the folder, by default `dist`, and prints its path.
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makePackage, packPackage } from './bundle.ts';

const dist = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'dist'));
const folder = join(dist, 'package');
await makePackage(folder);
const tarball = packPackage(folder, dist);
process.stdout.write(`${tarball} (${(statSync(tarball).size / 1e6).toFixed(1)} MB)\n`);
