/*
 * The values that fields may have, each list said once: types, schemas, SQL and documentation follow from these. The
 * checks of sql/migrations were written with them; a test holds the two to each other.
 */

/** The kinds of device that offers are limited to, in the order in which we list them. */
export const devices = ['android', 'ios', 'desktop'] as const;
export type Device = (typeof devices)[number];

export const paymentTerms = ['net30', 'net60'] as const;
/** For what an advertiser pays: an install, an event, an action, a lead. */
export const trackingTypes = ['CPI', 'CPE', 'CPA', 'CPL'] as const;
export const reportCategories = ['app', 'web', 'survey', 'game'] as const;
/** Where an offer may be shown; PTC is paid to click. */
export const formats = ['offerwall', 'banners', 'surveys', 'PTC'] as const;

/** What an advertiser says of an offer. */
export const offerStatuses = ['active', 'paused'] as const;
export type OfferStatus = (typeof offerStatuses)[number];
/** What a version of an offer may be: `vanished` where its source's export lacks it. */
export const versionStatuses = [...offerStatuses, 'vanished'] as const;
export type VersionStatus = (typeof versionStatuses)[number];

/** Of an offer's conversions, the last 24 hours against the 24 before. */
export const trends = ['up', 'down', 'stable'] as const;

/**
 * What happens to a conversion: it is granted, refused, or taken back later. In the order in which they can follow one
 * another.
 */
export const conversionKinds = ['credit', 'reject', 'chargeback'] as const;
export type ConversionKind = (typeof conversionKinds)[number];

export const eventKinds = ['clicks', 'conversions'] as const;
export type EventKind = (typeof eventKinds)[number];

/** What lies in the landing folder, by the names of its folders. */
export const landingKinds = ['offers', ...eventKinds] as const;
export type LandingKind = (typeof landingKinds)[number];

/** What became of a landing file. */
const fileStatuses = ['loaded', 'quarantined', 'held', 'superseded'] as const;
export type FileStatus = (typeof fileStatuses)[number];

/** How far the delivery of a postback has come; the last two are final. */
export const deliveryStates = ['pending', 'delivering', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStates)[number];
