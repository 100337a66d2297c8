import { expect, it, onTestFinished } from 'vitest';
import { writeFile } from 'node:fs/promises';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noteConfiguration } from '../../../src/pipeline/runs/configuration-note.ts';
import { endOf } from '../../support/commands.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

it('status and doctor name files that differ from those of the machine that published last', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const url = 's3://bucket/network';
  await writeFile(data.settingsFile, JSON.stringify({ storage: { url } }));
  await writeFile(data.sitesFile, '{"sites": []}');
  const logged: string[] = [];
  const logger = createLogger({ write: (line) => logged.push(line) > 0 }, 'info');
  const note = (files: string[]) =>
    noteConfiguration({ data, effects: realEffects, logger }, { url, files, run_id: 7 });
  for (const _ of ['once', 'again']) await note(['sites.json', 'offerline.json']);
  expect(logged).toEqual([expect.stringContaining('sites.json and offerline.json here differ from') as string]);
  const named = `sites.json and offerline.json here differ from those of the machine that published run 7 to ${url}`;
  const status = await endOf(data.root, 'status');
  expect(status).toMatchObject({ code: exitCode.failed, stderr: expect.stringContaining(named) as string });
  expect((await endOf(data.root, 'doctor')).stdout).toContain(named);

  await note([]);
  const after = await endOf(data.root, 'status');
  expect(after.stdout + after.stderr).not.toContain('differ');
  // What was noted of another storage says nothing.
  await note(['sites.json']);
  await writeFile(data.settingsFile, '{}');
  expect((await endOf(data.root, 'status')).stdout).not.toContain('differs');
});
