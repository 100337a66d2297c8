import { UsageError } from '../errors/errors.ts';
import { nearestWord } from '../text/nearest-word.ts';
import type { OfferRules, OfferSelector } from './offer-rules.ts';

const kinds = ['offer', 'source', 'category', 'format'] as const;

/** Reads what commands take for an entry of the rules: `source:north`, `offer:1000001`. Throws `UsageError`. */
export function parseSelector(text: string): OfferSelector {
  const [, kind = '', value = ''] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const known = kinds.find((each) => each === kind);
  if (known === undefined || value === '') {
    const nearest = kind === '' ? undefined : nearestWord(kind, kinds);
    const hint = nearest === undefined || known !== undefined ? '' : `; did you mean ${nearest}:${value}?`;
    throw new UsageError(
      `${JSON.stringify(text)} names no offers: write ${kinds.map((each) => `${each}:…`).join(', ')}${hint}`,
    );
  }
  return known === 'offer' && /^\d{1,10}$/.test(value) ? { offer: Number(value) } : { [known]: value };
}

/** Writes an entry as `parseSelector` reads it. */
export function selectorText(selector: OfferSelector): string {
  const [[kind, value] = ['', '']] = Object.entries(selector).filter(([, given]) => given !== undefined);
  return `${kind}:${value}`;
}

/** Says which offers rules let a site have: `all, but not source:north`. */
export function rulesText({ allow, deny }: OfferRules): string {
  const allowed = allow === undefined ? 'all' : allow.map(selectorText).join(', ');
  return deny === undefined ? allowed : `${allowed}, but not ${deny.map(selectorText).join(', ')}`;
}
