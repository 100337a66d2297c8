import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { offerline } from '../support/command-line.ts';

/**
 * Asks `status` and `doctor` on a data directory whose disk takes nothing more: both must fail by the disk itself, with
 * what is found all the same. Gives what went wrong.
 */
export async function commandProblems(data: DataDirectory): Promise<string[]> {
  const problems: string[] = [];
  const reason = /every run fails|the file system is read-only/;
  const status = await offerline(data.root, 'status');
  if (status.code !== exitCode.failed) problems.push(`status ended with ${status.code}`);
  if (!reason.test(status.stderr)) problems.push(`status does not name the disk: ${status.stderr}`);
  if (!status.stdout.includes('no run can be recorded')) problems.push(`status says of runs: ${status.stdout}`);
  const doctor = await offerline(data.root, 'doctor');
  if (doctor.code !== exitCode.failed) problems.push(`doctor ended with ${doctor.code}`);
  if (!/^TROUBLE {2}machine: /m.test(doctor.stdout)) problems.push(`doctor shows ${doctor.stdout}${doctor.stderr}`);
  return problems;
}
