import { chmod, mkdir, stat } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { command, endOf } from '../../support/commands.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

it('the doctor reports folders that everybody may read, and closes them', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await chmod(data.root, 0o755);
  await mkdir(data.landing);
  for (const [folder, mode] of [
    [data.warehouse, 0o755],
    [data.postbacks, 0o750],
    [data.tracker, 0o711],
    [data.console, 0o700],
    [data.published, 0o755],
  ] as const) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, mode);
  }
  const modes = async () =>
    Promise.all(
      [data.warehouse, data.postbacks, data.tracker, data.console, data.published].map(
        async (folder) => (await stat(folder)).mode & 0o777,
      ),
    );

  const { code, stdout } = await endOf(data.root, 'doctor', '--json');
  expect(code).toBe(0);
  const { findings, left } = JSON.parse(stdout) as { findings: { check: string; problem: string }[]; left: number };
  const found = findings.filter(({ check }) => check === 'access');
  expect([left, found]).toEqual([
    2,
    [
      expect.objectContaining({ level: 'trouble', subject: data.warehouse, repairable: true }),
      expect.objectContaining({ level: 'trouble', subject: data.tracker, repairable: true }),
    ],
  ]);
  expect(found[0]?.problem).toContain('mode 755');
  expect(await modes()).toEqual([0o755, 0o750, 0o711, 0o700, 0o755]);

  expect(JSON.parse(await command(data.root, 'doctor', '--repair', '--json'))).toMatchObject({ repaired: 2, left: 0 });
  expect(await modes()).toEqual([0o700, 0o750, 0o700, 0o700, 0o755]);
  expect(await command(data.root, 'doctor')).toContain('all is well');

  // Nobody else gets as far as to a folder in one that is closed.
  await chmod(data.warehouse, 0o755);
  await chmod(data.root, 0o700);
  expect(await command(data.root, 'doctor')).toContain('all is well');
});
