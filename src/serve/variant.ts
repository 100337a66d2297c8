import type { Refusal } from './refusal.ts';

/** What sets the answers of one variant of the interface apart, whatever the endpoint. */
export interface Variant {
  readonly letter: 'B' | 'C';
  /** Headers of every answer of the variant, errors included. */
  readonly headers: Readonly<Record<string, string>>;
  refuse(refusal: Refusal): { status: number; document: object };
}
