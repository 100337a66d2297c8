import { moneyText } from '../../../kit/text/decimal-text.ts';
import type { Device } from '../../../kit/vocabulary/values.ts';
import type { GeneratedOffer } from './canonical-records.ts';
import {
  appCategories,
  brandBeginnings,
  brandEndings,
  gameEndings,
  gameMilestones,
  surveySubjects,
  visitorCountries,
  webCategories,
} from './offer-texts.ts';
import { Random, seedFor } from './random.ts';

export const sources = ['northstar', 'lumen', 'arcadia', 'pollhive', 'clickfield'] as const;
export type Source = (typeof sources)[number];

/** Sources of the next offers, in turn; all five are there from the fifth offer on. */
const sourcePattern: readonly Source[] = [
  'northstar',
  'lumen',
  'arcadia',
  'pollhive',
  'clickfield',
  'northstar',
  'lumen',
  'clickfield',
  'northstar',
  'arcadia',
];

/** The public id of the first offer that brings one. */
const firstId = 101;
/**
 * Number of offers of which one is paused; no multiple of the pattern's length, so that it falls on all sources in
 * turn.
 */
const pausedEvery = 19;

const dayMs = 24 * 60 * 60 * 1000;

/** Fields of an offer that only its source gives. */
type Particulars = Pick<
  GeneratedOffer,
  'title' | 'description' | 'currency' | 'categories' | 'tracking_type' | 'report_category'
> &
  Partial<GeneratedOffer>;

/** The offers of all sources as canonical records, a pure function of its arguments. `end` is in epoch milliseconds. */
export function catalogOffers(seed: number, count: number, end: number): GeneratedOffer[] {
  return Array.from({ length: count }, (_, index): GeneratedOffer => {
    const random = new Random(seedFor(seedFor(seed, 'offer'), index));
    const source = sourcePattern[index % sourcePattern.length] as Source;
    const created = end - random.between(2, 400) * dayMs - random.below(dayMs);
    const slug = `${source.slice(0, 2)}-${1000 + index}`;
    return {
      source,
      external_id: slug,
      // Clickfield's offers carry no id of ours: their clicks name them by source and external id.
      ...(source === 'clickfield' ? {} : { id: firstId + index }),
      ...(random.chance(0.9) && { image: `https://images.${source}.example/${slug}.png` }),
      level: random.pick(['easy', 'easy', 'medium', 'hard']),
      stars: random.between(1, 5),
      countries: random.chance(0.35)
        ? []
        : random.sample(visitorCountries, random.between(1, 6)).map(({ code }) => code),
      devices: [],
      payment_term: random.chance(0.7) ? 'net30' : 'net60',
      destination_url: `https://go.${source}.example/offers/${slug}?ref=offerline&click={click_id}`,
      ...(random.chance(0.6) && { preview_url: `https://www.${source}.example/preview/${slug}` }),
      formats: ['offerwall'],
      ...(random.chance(0.15) && { daily_cap: random.between(2, 40) * 25 }),
      ...(random.chance(0.08) && { daily_click_cap: random.between(2, 40) * 500 }),
      multi_complete: false,
      status: index % pausedEvery === 13 ? 'paused' : 'active',
      created_at: timeText(created),
      updated_at: timeText(created + random.below(end - created)),
      ...particulars[source](random),
    };
  });
}

const particulars: Record<Source, (random: Random) => Particulars> = {
  northstar: (random) => {
    const brand = brandName(random);
    const devices: Device[] = random.pick<Device[]>([['android'], ['ios'], ['android', 'ios']]);
    return {
      title: `${brand}: install and open`,
      description: `Install ${brand}, open it and stay for 30 seconds.`,
      payout: centsText(random.between(20, 320)),
      currency: 'USD',
      categories: [random.pick(appCategories)],
      devices,
      ...(devices.includes('android') && { android_min_os: random.pick(['8.0', '9.0', '10.0']) }),
      ...(devices.includes('ios') && { ios_min_os: random.pick(['15.0', '16.0']) }),
      tracking_type: 'CPI',
      report_category: 'app',
    };
  },
  lumen: (random) => {
    const brand = brandName(random);
    return {
      title: `Create an account at ${brand}`,
      description: `Register at ${brand}, confirm your e-mail address and fill in your profile.`,
      payout: centsText(random.between(80, 2400)),
      currency: 'EUR',
      categories: random.sample(webCategories, random.between(1, 2)),
      devices: random.pick<Device[]>([[], [], ['desktop']]),
      formats: ['offerwall', 'banners'],
      tracking_type: random.pick(['CPA', 'CPL']),
      report_category: 'web',
    };
  },
  arcadia: (random) => {
    const game = `${random.pick(brandBeginnings)} ${random.pick(gameEndings)}`;
    const cents = random.between(15, 60);
    const events = gameMilestones
      .slice(0, random.between(2, gameMilestones.length))
      .map(({ event_id, description, share }) => ({
        event_id,
        description,
        payout: centsText(cents * share),
      }));
    return {
      title: `${game}: play and collect`,
      description: `New players of ${game} collect a reward at every milestone.`,
      currency: 'USD',
      categories: ['games'],
      devices: random.pick<Device[]>([['android'], ['ios'], ['android', 'ios']]),
      tracking_type: 'CPE',
      report_category: 'game',
      multi_complete: random.chance(0.2),
      events,
    };
  },
  pollhive: (random) => {
    const subject = random.pick(surveySubjects);
    const minutes = random.between(3, 25);
    const title = {
      de: `Umfrage: ${subject.de} (${minutes} Min.)`,
      en: `Survey: ${subject.en} (${minutes} min)`,
      fr: `Enquête : ${subject.fr} (${minutes} min)`,
    };
    const description = {
      de: `Beantworten Sie Fragen zum Thema „${subject.de}“.`,
      en: `Answer questions on ${subject.en}.`,
      fr: `Répondez à des questions : ${subject.fr}.`,
    };
    // Some surveys are not offered in English: their first language is then what everybody sees.
    const { en: _title, ...titleElsewhere } = title;
    const { en: _description, ...descriptionElsewhere } = description;
    const inEnglish = random.chance(0.85);
    return {
      title: inEnglish ? title : titleElsewhere,
      description: inEnglish ? description : descriptionElsewhere,
      payout: centsText(minutes * random.between(8, 22)),
      currency: 'GBP',
      categories: ['surveys'],
      formats: ['offerwall', 'surveys'],
      tracking_type: 'CPL',
      report_category: 'survey',
      multi_complete: random.chance(0.3),
    };
  },
  clickfield: (random) => {
    const brand = brandName(random);
    const stay = random.pick([10, 20, 30]);
    return {
      title: `Visit ${brand}`,
      description: `Visit ${brand}, look around for ${stay} seconds, and leave your opinion.`,
      payout: moneyText(BigInt(stay * random.between(2, 30)) * 100n),
      currency: 'USD',
      categories: random.pick([[], ['visit'], ['visit', 'shopping']]),
      formats: ['PTC', 'banners'],
      tracking_type: random.pick(['CPA', 'CPL']),
      report_category: 'web',
      multi_complete: random.chance(0.5),
    };
  },
};

function centsText(cents: number): string {
  return moneyText(BigInt(cents) * 10_000n);
}

function brandName(random: Random): string {
  return `${random.pick(brandBeginnings)}${random.pick(brandEndings)}`;
}

function timeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}
