import { Option, type Command } from 'commander';
import { addUser, readUsers, removeUser, roles, type Role } from '../../../console/access/users.ts';
import { addCommand, answer, existingData, fieldLines, table } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

/** Who may use the console: subcommands of `console`. */
export function addConsoleUserCommands(consoleCommand: Command, context: CommandContext): void {
  addCommand(consoleCommand, 'users', 'who may use the console').action((options: { json?: boolean }) => {
    const users = readUsers(existingData().consoleUsersFile).map(({ name, role }) => ({ name, role }));
    answer(context, options, { users }, table(users));
  });
  addCommand(consoleCommand, 'add', 'add a user with a new token, which is printed once')
    .argument('<name>', 'as the log of actions will have it')
    .addOption(
      new Option('--role <role>', 'whether they only look, or start what changes something')
        .choices(roles)
        .makeOptionMandatory(),
    )
    .action(async (name: string, options: { role: Role; json?: boolean }) => {
      const { role } = options;
      const token = await addUser(existingData().consoleUsersFile, { name, role });
      answer(context, options, { name, role, token }, fieldLines({ name, role, token }));
    });
  addCommand(consoleCommand, 'remove', 'remove a user, whose sessions end with it')
    .argument('<name>', 'as `console users` tells it')
    .action(async (name: string, options: { json?: boolean }) => {
      await removeUser(existingData().consoleUsersFile, name);
      answer(context, options, { removed: name }, `${name} was removed`);
    });
}
