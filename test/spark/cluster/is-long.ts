/** With `OFFERLINE_SPARK=all` what repeats itself runs whole: each of it costs runs on Spark. */
export const isLong = process.env['OFFERLINE_SPARK'] === 'all';
