import { spawnSync } from 'node:child_process';
import { MissingProgram } from '../../support/python-environment.ts';

const candidates = ['chromium', 'chromium-browser', 'google-chrome'];

/** Path of this machine's Chromium. Throws `MissingProgram` saying how to get one. */
export function installedChromium(report: (line: string) => void): string {
  const wanted = process.env['CHROMIUM'];
  for (const program of wanted === undefined ? candidates : [wanted]) {
    const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (status !== 0) continue;
    report(`${program}: ${stdout.trim()}`);
    return spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();
  }
  throw new MissingProgram(
    `there is no ${wanted ?? 'chromium'} here: on Debian \`apt-get install chromium\` brings one, and CHROMIUM names another`,
  );
}
