/** Facts of a file that its reader does not have to recognize: `format` of a mapping. All of them are optional. */
export interface FormatSettings {
  /** Encoding of the text by its usual name, such as `windows-1252`; a byte order mark in the file counts more. */
  encoding?: string | undefined;
  /** The ASCII character between cells; otherwise the header row shows it. */
  delimiter?: string | undefined;
  /** Names of the columns where no row has them, or the number of the row that has, counted behind skipped lines. */
  header?: readonly string[] | number | undefined;
  /** Lines before the header that are passed over: how many, or what they begin with, such as `#`. */
  skip?: number | string | undefined;
  /** Sheet of a workbook: its name, or its number from 1. The first one if not given. */
  sheet?: string | number | undefined;
  /** Place of the records in a document: names with dots between. Of XML with the name of the root. */
  records?: string | undefined;
}
