/*
 * The values that fields may have, each list said once: types, schemas, SQL and documentation follow from these. The
 * checks of sql/migrations were written with them; a test holds the two to each other.
 */

/** The kinds of device that offers are limited to, in the order in which we list them. */
export const devices = ['android', 'ios', 'desktop'] as const;
export type Device = (typeof devices)[number];

export const paymentTerms = ['net30', 'net60'] as const;
/** Events that an advertiser pays for: an install, an event, an action, a lead. */
export const trackingTypes = ['CPI', 'CPE', 'CPA', 'CPL'] as const;
export const reportCategories = ['app', 'web', 'survey', 'game'] as const;
/** Places in which an offer may be shown; PTC is paid to click. */
export const formats = ['offerwall', 'banners', 'surveys', 'PTC'] as const;

/** Statuses of an offer in a catalog. */
export const offerStatuses = ['active', 'paused'] as const;
export type OfferStatus = (typeof offerStatuses)[number];
/** Statuses of a version: `vanished` where its source's export lacks the offer. */
export const versionStatuses = [...offerStatuses, 'vanished'] as const;
/** Statuses of an offer in the feeds: `capped` where a daily cap hides an active one. */
export const feedStatuses = [...versionStatuses, 'capped'] as const;
export type FeedStatus = (typeof feedStatuses)[number];
export type VersionStatus = (typeof versionStatuses)[number];

/** Trends of conversions: the last 24 hours against the 24 before. */
export const trends = ['up', 'down', 'stable'] as const;

/** Kinds of conversion events, in the order in which they can follow one another. */
export const conversionKinds = ['pending', 'credit', 'reject', 'chargeback'] as const;
export type ConversionKind = (typeof conversionKinds)[number];

/** Statuses of a conversion: unattributed while its click, its offer or its milestone is unknown. */
export const conversionStatuses = ['pending', 'credited', 'rejected', 'charged_back', 'unattributed'] as const;
export type ConversionStatus = (typeof conversionStatuses)[number];

export const eventKinds = ['clicks', 'conversions'] as const;
export type EventKind = (typeof eventKinds)[number];

/** Kinds of landing files, by the names of their folders. */
export const landingKinds = ['offers', ...eventKinds] as const;
export type LandingKind = (typeof landingKinds)[number];

/** Statuses of a landing file. */
const fileStatuses = ['loaded', 'quarantined', 'held', 'superseded'] as const;
export type FileStatus = (typeof fileStatuses)[number];

/** States of a postback's delivery; the last two are final. */
export const deliveryStates = ['pending', 'delivering', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStates)[number];
