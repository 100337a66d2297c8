/*
 * Bounds of what a source says of its offers: one source takes neither the memory of a run nor that of the API.
 */

/** Records of a catalog: its offers are held in memory while they are compared with what is known. */
export const maxCatalogRecords = 1_000_000;

/** Characters of a text. */
export const maxTextCharacters = 10_000;

/** Characters of all descriptive texts of a record: lists of texts and languages multiply the bound of one. */
export const maxRecordCharacters = 1_000_000;

/** Categories, milestones, and languages of a text. */
export const maxMembers = 1000;
