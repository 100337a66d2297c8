import { pullSources } from '../../pipelines/pull.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { peakMemory } from '../support/peak-memory.ts';

/** Pulls all sources of the data directory that its argument names; prints what came of it and its peak of memory. */
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const pulled = await pullSources({ data: new DataDirectory(process.argv[2] ?? ''), terminal });
process.stdout.write(JSON.stringify({ pulled, peak: peakMemory() }));
