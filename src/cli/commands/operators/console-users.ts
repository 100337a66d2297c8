import { Option, type Command } from 'commander';
import { addUser, readUsers, removeUser, roles, type Role } from '../../../console/access/users.ts';
import { writeEnterLink } from '../../../console/access/enter-link.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { addCommand, printAnswer, existingData, fieldLines, textTable } from '../../answer.ts';
import { consoleAddress } from '../../console-address.ts';
import type { CommandContext } from '../../context.ts';

/** Adds the subcommands of `console`: about who may use it. */
export function addConsoleUserCommands(consoleCommand: Command, context: CommandContext): void {
  consoleCommand.enablePositionalOptions();
  addCommand(
    consoleCommand,
    'link',
    'Prints a link that lets into the console that runs, once, within ten minutes',
    'It works on the machine and for the data directory of a console on loopback, also one that `start` runs.',
  ).action(async (options: { json?: boolean }) => {
    const data = existingData();
    const address = await consoleAddress(data);
    if (address === undefined)
      throw new UsageError(
        'no console that gives links runs on this data directory: start one with `offerline console` or `offerline start`; elsewhere than on loopback users sign in by the tokens of `offerline console add`',
      );
    const link = address + (await writeEnterLink(data.consoleLinkFile, Date.now()));
    printAnswer(context, options, { address, link }, `Open ${link}\n(good once, for ten minutes)`);
  });
  addCommand(consoleCommand, 'users', 'Lists who may use the console').action((options: { json?: boolean }) => {
    const users = readUsers(existingData().consoleUsersFile).map(({ name, role }) => ({ name, role }));
    printAnswer(context, options, { users }, textTable(users));
  });
  addCommand(
    consoleCommand,
    'add',
    'Adds a user with a new token of 32 random bytes, which is printed once',
    'A console that runs follows by itself.',
  )
    .argument('<name>', 'name of the user in the log of actions')
    .addOption(
      new Option(
        '--role <role>',
        "a viewer looks; an analyst also asks by MCP, which reads all of the analysts' file; an operator also starts commands that change something",
      )
        .choices(roles)
        .makeOptionMandatory(),
    )
    .action(async (name: string, options: { role: Role; json?: boolean }) => {
      const { role } = options;
      const token = await addUser(existingData().consoleUsersFile, { name, role });
      printAnswer(context, options, { name, role, token }, fieldLines({ name, role, token }));
    });
  addCommand(consoleCommand, 'remove', 'Removes a user, whose sessions end')
    .argument('<name>', 'name, as `console users` lists it')
    .action(async (name: string, options: { json?: boolean }) => {
      await removeUser(existingData().consoleUsersFile, name);
      printAnswer(context, options, { removed: name }, `${name} was removed`);
    });
}
