import { html, type Html } from '../../html/html.ts';
import { unknown } from '../../html/figures.ts';
import type { Column } from '../../html/table.ts';

interface Offer {
  offer_id: number;
  title: string;
}
interface Difference<Value> {
  before: Value | null;
  after: Value | null;
}

/** The differences of two snapshots, a row for each. */
export interface DiffRows {
  added: (Offer & { payout: string; before: string | null })[];
  removed: (Offer & { payout: string; after: string | null })[];
  /** `price`: of the offer, or of which of its milestones. */
  repriced: (Offer & { price: string } & Difference<string>)[];
  changed: (Offer & Difference<number>)[];
  commissions: ({ site_key: string } & Difference<string>)[];
  figures: (Offer & { figure: string } & Difference<string | number>)[];
}

const offer: readonly Column<Offer>[] = [
  {
    name: 'offer_id',
    title: 'Offer',
    kind: 'number',
    show: ({ offer_id }) => html`<a href="/offers/${offer_id}">${offer_id}</a>`,
  },
  { name: 'title', title: 'Title' },
];

const money: readonly Column<Difference<string>>[] = [
  { name: 'before', title: 'Before, USD', kind: 'money' },
  { name: 'after', title: 'After, USD', kind: 'money' },
];

const number: readonly Column<Difference<string | number>>[] = [
  { name: 'before', title: 'Before', show: ({ before }) => side(before, 'del') },
  { name: 'after', title: 'After', show: ({ after }) => side(after, 'ins') },
];

type DiffColumns = { [Name in keyof DiffRows]: readonly Column<DiffRows[Name][number]>[] };

export const diffColumns: DiffColumns = {
  added: [...offer, { name: 'payout', title: 'Payout, USD', kind: 'money' }, { name: 'before', title: 'Was' }],
  removed: [...offer, { name: 'payout', title: 'Payout, USD', kind: 'money' }, { name: 'after', title: 'Is now' }],
  repriced: [...offer, { name: 'price', title: 'Price of' }, ...money],
  changed: [
    ...offer,
    { name: 'before', title: 'Version before', kind: 'number' },
    { name: 'after', title: 'Version after', kind: 'number' },
  ],
  commissions: [{ name: 'site_key', title: 'Site' }, ...number],
  figures: [
    ...offer,
    { name: 'figure', title: 'Figure', show: ({ figure }) => html`<a href="/figures/${figure}">${figure}</a>` },
    ...number,
  ],
};

function side(value: string | number | null, how: 'del' | 'ins'): Html {
  if (value === null) return unknown('none there');
  return how === 'del' ? html`<del>${value}</del>` : html`<ins>${value}</ins>`;
}
