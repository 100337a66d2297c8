import type { Device } from '../../../kit/vocabulary/values.ts';
import type { GeneratedClick } from './canonical-records.ts';
import type { Network, NetworkOffer } from './network.ts';
import { userAgents, visitorCountries } from './offer-texts.ts';
import { Random, scramble, seedFor } from './random.ts';
import { WeightedChoice } from './weighted-choice.ts';

/** Amount and time of traffic: the calendar days (UTC) up to the end moment, the last one as far as it got. */
export interface Traffic {
  seed: number;
  clicks: number;
  days: number;
  /** Epoch milliseconds. */
  end: number;
}

export interface SiteVisit {
  /** From 0 in order of time. */
  index: number;
  /** Epoch milliseconds. */
  at: number;
  /** UTC days since the first day of the traffic. */
  day: number;
  offer: NetworkOffer;
  converts: boolean;
  click: GeneratedClick;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Clicks of each UTC hour relative to the others: quiet before dawn, a peak in the evening. */
const hourlyWeights = [
  5.0, 3.8, 3.0, 2.5, 2.3, 2.6, 3.4, 4.6, 5.8, 6.6, 7.0, 7.3, 7.6, 7.7, 7.8, 8.0, 8.4, 9.0, 9.8, 10.4, 10.2, 9.2, 7.8,
  6.3,
];

const everywhere = new WeightedChoice(visitorCountries, ({ weight }) => weight);
const anyDevice: readonly Device[] = ['android', 'android', 'android', 'ios', 'ios', 'desktop'];

/** The midnight that begins the first day. An end at midnight closes the day before it. */
export function firstMidnight({ end, days }: Traffic): number {
  return Math.floor((end - 1) / dayMs) * dayMs - (days - 1) * dayMs;
}

/** The UTC date of a day of the traffic, such as `2026-11-21`. */
export function dateOfDay(traffic: Traffic, day: number): string {
  return new Date(firstMidnight(traffic) + day * dayMs).toISOString().slice(0, 10);
}

/** Unique over all indexes of a seed, and over different 32-bit seeds, in no order that means anything. */
export function generatedClickId(seed: number, index: number): string {
  return hex8(scramble(seed ^ 0x5bd1e995)) + hex8(scramble(index ^ seed));
}

/** All visits in order of time, one by one, so that any number of them fits into memory. */
export function* visits(network: Network, traffic: Traffic): Generator<SiteVisit> {
  const from = firstMidnight(traffic);
  const total = weightBetween(from, traffic.end);
  const make = visitMaker(network, traffic);
  let index = 0;
  let weight = 0;
  for (let minute = from; minute < traffic.end; minute += minuteMs) {
    const length = Math.min(minuteMs, traffic.end - minute);
    weight += minuteWeight(minute, length);
    const first = index;
    // The share first: at the end it is exactly 1, while clicks * weight / total may come out just below all clicks.
    const until = Math.floor(traffic.clicks * (weight / total));
    for (; index < until; index++)
      yield make(index, minute, (length * (index - first)) / (until - first), length / (until - first));
  }
}

function weightBetween(from: number, end: number): number {
  let weight = 0;
  // Summed in the same order as the visits are, so that the last minute comes out at exactly all of them.
  for (let minute = from; minute < end; minute += minuteMs)
    weight += minuteWeight(minute, Math.min(minuteMs, end - minute));
  return weight;
}

function minuteWeight(minute: number, length: number): number {
  const hour = Math.floor(minute / (60 * minuteMs));
  const passed = minute / (60 * minuteMs) - hour;
  const now = hourlyWeights[hour % 24] as number;
  const next = hourlyWeights[(hour + 1) % 24] as number;
  return (now + (next - now) * passed) * (length / minuteMs);
}

function visitMaker(network: Network, traffic: Traffic) {
  const random = new Random(0);
  const seed = seedFor(traffic.seed, 'click');
  const users = Math.ceil(traffic.clicks / 8) + 20;
  const from = firstMidnight(traffic);
  let minuteText = '';
  let minuteOfText = Number.NaN;

  return (index: number, minute: number, offsetMs: number, roomMs: number): SiteVisit => {
    random.restart(scramble(seed + index));
    if (minute !== minuteOfText) {
      minuteText = new Date(minute).toISOString().slice(0, 17);
      minuteOfText = minute;
    }
    const ms = Math.floor(offsetMs + roomMs * random.next());
    const at = minute + ms;
    const offer = network.shownOffers.pick(random);
    const { record } = offer;
    const site = network.visitedSites.pick(random);
    const draw = random.next();
    const user = Math.floor(draw * draw * users);
    const device = random.pick(record.devices.length > 0 ? record.devices : anyDevice);
    const country = record.countries.length > 0 ? random.pick(record.countries) : everywhere.pick(random).code;
    const rate = traffic.end - at <= dayMs ? offer.conversionRate * offer.momentum : offer.conversionRate;
    const converts = random.next() < rate;
    const click: GeneratedClick = {
      click_id: generatedClickId(traffic.seed, index),
      ...(record.id === undefined
        ? { source: record.source, external_id: record.external_id }
        : { offer_id: record.id }),
      site_key: site.site_key,
      user_id: `u${user.toString(36)}`,
      clicked_at: `${minuteText}${secondsText(ms)}Z`,
    };
    if (random.chance(0.97)) click.country = country;
    if (random.chance(0.98)) click.device = device;
    if (random.chance(0.9)) click.ip = addressOf(scramble(user + seed));
    if (random.chance(0.25)) click.user_agent = random.pick(userAgents[device]);
    if (random.chance(0.3)) click.sub1 = random.pick(['wall', 'banner', 'newsletter', 'daily-task']);
    return { index, at, day: Math.floor((at - from) / dayMs), offer, converts, click };
  };
}

function secondsText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const rest = ms % 1000;
  return `${seconds < 10 ? '0' : ''}${seconds}.${rest < 100 ? (rest < 10 ? '00' : '0') : ''}${rest}`;
}

/** Addresses of the ranges for benchmarks and documentation (RFC 2544, RFC 3849), which belong to nobody. */
function addressOf(bits: number): string {
  if (bits % 6 === 0) return `2001:db8:${(bits >>> 16).toString(16)}:${(bits & 0xffff).toString(16)}::1`;
  return `198.${18 + (bits & 1)}.${(bits >>> 8) & 255}.${(bits >>> 16) & 255}`;
}

function hex8(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}
