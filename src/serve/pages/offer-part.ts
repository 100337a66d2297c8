/** Where something of the site comes in: its price of the offer or of a milestone (by place), or the offer's link. */
export type Slot = 'payout' | 'epc' | 'link' | number;

/** JSON text; or where something of the site stands; or the offer's last change, which is that of the site's commission where this was later. */
export type OfferPart = { text: string } | { slot: Slot } | { updatedAt: string };
