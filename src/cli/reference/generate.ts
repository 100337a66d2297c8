/**
 * Writes `data/fields.md` from the rules of landing, `data/settings.md` from the schemas of settings and
 * `src/cli/commands.md` from the commands:
 * `npm run -s generate` after a change of either. A test holds the pages to them.
 */
import { writeFile } from 'node:fs/promises';
import { referencePages } from './pages.ts';

for (const { file, text } of referencePages) await writeFile(file, await text());
