import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { asker, openJobs } from './action-tests.ts';

/** A console that starts a pull and is killed during it. */
const [root = ''] = process.argv.slice(2);
const jobs = await openJobs(new DataDirectory(root));
const { digest } = await jobs.preview('pull', {});
const { id } = await jobs.start('pull', {}, digest, asker());
process.stdout.write(`${id}\n`);
