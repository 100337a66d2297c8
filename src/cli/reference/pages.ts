import { packageFile } from '../../kit/files/package-files.ts';
import { commandsPage } from './commands-page.ts';
import { fieldsReference } from './fields-page.ts';
import { settingsPage } from './settings-page.ts';

/** Generated pages, each by its path in the repository. */
export const referencePages = [
  { path: 'data/fields.md', text: fieldsReference },
  { path: 'data/settings.md', text: settingsPage },
  { path: 'src/cli/commands.md', text: commandsPage },
].map((page) => ({ ...page, file: packageFile(page.path) }));
