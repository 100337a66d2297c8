import { unreadableNoteAdvice, type UnreadableNote } from '../../kit/files/note-file.ts';

/** One thing that the doctor saw. */
export interface Finding {
  /** `trouble` is to be put right; a `note` is worth knowing and harms nothing. */
  level: 'trouble' | 'note';
  /** The check that saw it. */
  check:
    | 'state'
    | 'files'
    | 'keys'
    | 'ledger'
    | 'roll-up'
    | 'landing'
    | 'snapshots'
    | 'copies'
    | 'deliveries'
    | 'clock'
    | 'runs'
    | 'schedule'
    | 'sites'
    | 'sources'
    | 'pictures'
    | 'access'
    | 'machine';
  /** What it is about: a path, a table or a setting. */
  subject: string;
  problem: string;
  /** What to do, as a sentence for the operator. */
  advice: string;
  /** `--repair` does what the advice says. */
  repairable: boolean;
}

export function trouble(
  check: Finding['check'],
  subject: string,
  problem: string,
  advice: string,
  { repairable = true } = {},
): Finding {
  return { level: 'trouble', check, subject, problem, advice, repairable };
}

/** Of a note of another process, for want of which nothing stops. */
export function unreadableNote(check: Finding['check'], { file, problem }: UnreadableNote): Finding {
  return note(check, file, problem, unreadableNoteAdvice);
}

export function note(check: Finding['check'], subject: string, problem: string, advice: string): Finding {
  return { level: 'note', check, subject, problem, advice, repairable: false };
}
