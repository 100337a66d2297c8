import { asOf, sites, textOf, type AskedFacts } from './asked-network.ts';

/** What a question asks for, over the events; a day is a UTC day of the credit or the click. */
export interface AskedFigure {
  figure: keyof typeof figures;
  offer?: number;
  site?: string;
  country?: string;
  device?: string;
  user?: string;
  reason?: string;
  /** The first and the last moment; by default all up to as-of. */
  from?: string;
  to?: string;
}

type Click = AskedFacts['clicks'][number];
type Conversion = AskedFacts['conversions'][number];
/** `conversions`: credited at `to`, `reversed`: credited and taken back by then. */
interface Counted {
  clicks: Click[];
  conversions: Conversion[];
  reversed: Conversion[];
}

const sum = (conversions: readonly Conversion[]) => conversions.reduce((total, { payout }) => total + payout, 0n);
const distinct = (values: readonly string[]) => new Set(values).size;

/** Figures by plain arithmetic: no window, no roll-up, no SQL. */
const figures = {
  clicks: ({ clicks }: Counted) => String(clicks.length),
  users: ({ clicks }: Counted) => String(distinct(clicks.map(({ user_id }) => user_id))),
  conversions: ({ conversions }: Counted) => String(conversions.length),
  converted_clicks: ({ conversions }: Counted) => String(distinct(conversions.map(({ click }) => click.click_id))),
  earnings: ({ conversions }: Counted) => textOf(sum(conversions)),
  epc: ({ clicks, conversions }: Counted) => textOf(quotient(sum(conversions), clicks.length)),
  cvr: ({ clicks, conversions }: Counted) => textOf(quotient(BigInt(conversions.length) * 1_000_000n, clicks.length)),
  reversed: ({ reversed }: Counted) => String(reversed.length),
  reversed_amount: ({ reversed }: Counted) => textOf(sum(reversed)),
  /** What is left after the site's commission, each conversion by itself, in US dollars of six places. */
  after_commission: ({ conversions }: Counted) =>
    textOf(
      quotient(
        conversions.reduce(
          (total, { payout, click }) => total + payout * (100n - (sites[click.site_key]?.commission ?? 0n)),
          0n,
        ),
        100,
      ),
    ),
} as const;

/** Computes a figure from the events. */
export function knownAnswer({ clicks, conversions }: AskedFacts, asked: AskedFigure): string {
  const { from = '', to = asOf } = asked;
  // Times of both are text of the same form but for milliseconds.
  const isIn = (moment: string) =>
    Date.parse(moment) <= Date.parse(to) && (from === '' || Date.parse(moment) >= Date.parse(from));
  const fits = (click: Click) =>
    (asked.offer === undefined || click.offer_id === asked.offer) &&
    (asked.site === undefined || click.site_key === asked.site) &&
    (asked.country === undefined || click.country === asked.country) &&
    (asked.device === undefined || click.device === asked.device) &&
    (asked.user === undefined || click.user_id === asked.user);
  const credited = conversions.filter(({ click, credited_at }) => fits(click) && isIn(credited_at));
  const isReversed = ({ reversed }: Conversion) =>
    reversed !== undefined && Date.parse(reversed.at) <= Date.parse(asOf);
  return figures[asked.figure]({
    clicks: clicks.filter((click) => fits(click) && isIn(click.clicked_at)),
    conversions: credited.filter((conversion) => !isReversed(conversion)),
    reversed: credited.filter(
      (conversion) =>
        isReversed(conversion) && (asked.reason === undefined || conversion.reversed?.reason === asked.reason),
    ),
  });
}

/** Rounds half away from zero; nothing here is negative. */
function quotient(dividend: bigint, divisor: number): bigint {
  if (divisor === 0) return 0n;
  const by = BigInt(divisor);
  return (2n * dividend + by) / (2n * by);
}
