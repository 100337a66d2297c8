import type { Refusal } from './errors.ts';

/** What sets the answers of one variant of the interface apart, whatever the endpoint. */
export interface Variant {
  readonly letter: 'A' | 'B' | 'C';
  /** Headers of every answer of the variant, errors included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether answers to a site say what is left of its limit, and not only the refusals. */
  readonly showsLimits: boolean;
  refuse(refusal: Refusal): { status: number; document: object };
}
