/** Takes or restores a backup, and kills itself at a step or after so many bytes; prints the steps that it came to. */
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { BackupFile } from '../../../src/pipeline/backup/backup-place.ts';
import { restoreBackup } from '../../../src/pipeline/backup/restore-backup.ts';
import { takeBackup } from '../../../src/pipeline/backup/take-backup.ts';
import { noTracker } from '../../support/backed-up.ts';
import { samePoint, watchedEffects, type StepPoint } from '../lives/watched-effects.ts';

/** What the process is to do, as JSON in its first argument. */
export interface ChildBackup {
  kind: 'backup' | 'restore';
  root: string;
  place: string;
  /** Where the process kills itself; without one it ends. */
  killAt?: StepPoint | { bytes: number };
}

const { kind, root, place, killAt } = JSON.parse(process.argv[2] ?? '') as ChildBackup;
const steps: StepPoint[] = [];
const kill = () => process.kill(process.pid, 'SIGKILL');
const effects = watchedEffects(Date.now(), (point) => {
  steps.push(point);
  if (killAt !== undefined && 'step' in killAt && samePoint(point, killAt)) kill();
});
const progress = {
  start() {},
  advance(done: number) {
    if (killAt !== undefined && 'bytes' in killAt && done >= killAt.bytes) kill();
  },
  finish() {},
};
const terminal = { logger: createLogger(process.stderr, 'error'), progress };
const data = new DataDirectory(root);
const file = new BackupFile(place, effects.files);
if (kind === 'backup') await takeBackup({ data, terminal, to: file, allLanding: true, tracker: noTracker }, effects);
else await restoreBackup({ data, terminal, from: file }, effects);
process.stdout.write(JSON.stringify(steps));
