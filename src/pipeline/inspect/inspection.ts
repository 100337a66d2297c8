import type { LandingKind } from '../../kit/vocabulary/values.ts';

/** What would become of the first records of a file. */
export interface TriedRecords {
  tried: number;
  /** The first of them as they would be. */
  rows: object[];
  /** Records that a mapping passes over. */
  passed_over: number;
  /** By reason, with the first of its rows and what helps. */
  rejects: { reason: string; rows: number; line: number; raw: string; cure: string }[];
  /** Records that would not count, since an earlier one under the same id says something else. */
  conflicts: number;
  /** Fields whose values make no sense and would be dropped, the rows being accepted, with the first such value. */
  dropped: { field: string; rows: number; example: string }[];
}

/** A column, or a place in a nested record. */
export interface SeenPlace {
  place: string;
  /** Share of the records that have a value there. */
  filled: number;
  examples: string[];
}

export interface Inspection extends TriedRecords {
  file: string;
  /** Its path in the landing folder; null elsewhere. */
  path: string | null;
  bytes: number;
  format: string;
  /** Why landing would quarantine it as it is; null where it can be read. */
  problem: { reason: string; detail: string } | null;
  kind: LandingKind | null;
  records: number;
  places: SeenPlace[];
  /** `configured`: of `offerline.json`; `proposed`; `none`: its records are ours. */
  mapping_is: 'configured' | 'proposed' | 'none' | 'unknown';
  /** What is proposed, as `offerline.json` would have it under `files`. */
  written: Record<string, unknown> | null;
  seen: Record<string, string>;
  missing: string[];
  doubts: string[];
}
