import { unreadableNoteAdvice, type UnreadableNote } from '../../kit/files/note-file.ts';

/** Finding of the doctor. */
export interface Finding {
  /** `trouble` needs repair; a `note` is harmless. */
  level: 'trouble' | 'note';
  /** The check that found it. */
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
    | 'pulls'
    | 'pictures'
    | 'access'
    | 'machine';
  /** A path, a table or a setting. */
  subject: string;
  problem: string;
  /** Advice to the operator, as a sentence. */
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

/** Returns a note about an unreadable file of another process, which stops nothing. */
export function unreadableNote(check: Finding['check'], { file, problem }: UnreadableNote): Finding {
  return note(check, file, problem, unreadableNoteAdvice);
}

export function note(check: Finding['check'], subject: string, problem: string, advice: string): Finding {
  return { level: 'note', check, subject, problem, advice, repairable: false };
}
