import type { SampledPages } from '../../pipelines/samples/sample-pages.ts';
import type { CountedReason, SampledRecord } from '../../pipelines/samples/sampled-record.ts';
import { counted } from '../kit/text/counted.ts';
import { visibleText } from '../kit/text/visible-text.ts';
import { textTable } from './answer.ts';
import { cutText, wrapped } from './line-width.ts';

/** The first records of a source's pages beside what they become, in lines of at most so many characters. */
export function sampledText({ offers, conversions, odd }: SampledPages, width: number): string {
  const parts = [
    ...(offers === undefined
      ? []
      : [
          `offers: ${counted(offers.records, 'record')} on the first page`,
          ...offers.sample.map((record, index) => recordText(record, index + 1, width)),
          ...reasonsText('rejected', offers.rejects, width),
          ...reasonsText('left out', offers.left_out, width),
          ...reasonsText('warnings', offers.warnings, width),
        ]),
    ...(conversions === undefined
      ? []
      : [
          `conversions: ${counted(conversions.records, 'record')} on the first page`,
          ...conversions.sample.map((record, index) => recordText(record, index + 1, width)),
          ...reasonsText('left out', conversions.left_out, width),
        ]),
    ...(odd.length === 0
      ? []
      : [['look at this:', ...odd.flatMap(({ odd: what, cure }) => wrapped(`${what}: ${cure}`, width, 2))].join('\n')]),
  ];
  return parts.join('\n\n');
}

const becomesText = {
  offer: 'an offer',
  conversion: 'a conversion',
  rejected: 'rejected',
  left_out: 'left out',
} as const satisfies Record<SampledRecord['becomes'], string>;

function recordText(
  { id, becomes, reason, cure, warnings, fields, unused }: SampledRecord,
  number: number,
  width: number,
) {
  const rows = fields.flatMap(({ field, value, from }) =>
    (from.length === 0 ? [{ place: '(none)', value: null }] : from).map((place, index) => ({
      'their field': place.place,
      'their value': place.value === null ? '' : textOf(place.value),
      'our field': index === 0 ? field : '',
      'our value': index === 0 ? valueText(field, value, becomes) : '',
    })),
  );
  const why = reason === null ? '' : ` (${reason})`;
  return [
    cutText(`${number}. ${id ?? 'without an id'}: ${becomesText[becomes]}${why}`, width),
    ...(cure === null ? [] : wrapped(cure, width, 3)),
    ...(rows.length === 0
      ? []
      : textTable(fitted(rows, width - 3))
          .split('\n')
          .map((line) => `   ${line}`)),
    ...(warnings.length === 0 ? [] : wrapped(`warnings: ${warnings.join(', ')}`, width, 3)),
    ...(unused.length === 0 ? [] : wrapped(`not used: ${someOf(unused)}`, width, 3)),
  ].join('\n');
}

const maxUnused = 20;

function someOf(places: readonly string[]): string {
  const shown = places.slice(0, maxUnused).join(', ');
  return places.length > maxUnused ? `${shown} and ${places.length - maxUnused} more, by --json` : shown;
}

function reasonsText(title: string, reasons: readonly CountedReason[], width: number): string[] {
  if (reasons.length === 0) return [];
  const lines = reasons.map(
    ({ reason, records, cure }) => `${counted(records, 'record')} ${reason}${cure === null ? '' : `: ${cure}`}`,
  );
  return [[`${title}:`, ...lines.flatMap((line) => wrapped(line, width, 2))].join('\n')];
}

/** Parts of a line by column, the last of which takes what is left; a place needs more room than a field of ours. */
const shares = { 'their field': 0.3, 'their value': 0.26, 'our field': 0.14 } as const;
const gap = 2;

function fitted(rows: readonly Record<string, string>[], width: number): Record<string, string>[] {
  const names = Object.keys(rows[0] ?? {});
  const widths = new Map<string, number>();
  let left = width - gap * (names.length - 1);
  for (const name of names) {
    const widest = Math.max(name.length, ...rows.map((row) => visibleText(row[name] ?? '').length));
    const share = shares[name as keyof typeof shares];
    const given = Math.max(name.length, share === undefined ? left : Math.min(widest, Math.floor(width * share)));
    widths.set(name, given);
    left -= given;
  }
  return rows.map((row) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        (name === 'their field' ? cutBefore : cutText)(row[name] ?? '', widths.get(name) ?? width),
      ]),
    ),
  );
}

/** What is taken has its amount in USD, whatever the network's currency. */
function valueText(field: string, value: unknown, becomes: SampledRecord['becomes']): string {
  const isUsd = field === 'payout' && value !== null && (becomes === 'offer' || becomes === 'conversion');
  return isUsd ? `${textOf(value)} USD` : textOf(value);
}

/** A value on one line: texts as they are, everything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : JSON.stringify(value);
}

/** The end of a place says more than its beginning. */
function cutBefore(text: string, width: number): string {
  const visible = visibleText(text);
  return visible.length <= width ? visible : `…${visible.slice(visible.length - width + 1)}`;
}
