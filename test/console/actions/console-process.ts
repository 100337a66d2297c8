import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { asker, openJobs } from './action-tests.ts';

/** A console that begins a pull and is killed while that goes on. */
const [root = ''] = process.argv.slice(2);
const jobs = await openJobs(new DataDirectory(root));
const { digest } = await jobs.preview('pull', {});
const { id } = await jobs.start('pull', {}, digest, asker());
process.stdout.write(`${id}\n`);
