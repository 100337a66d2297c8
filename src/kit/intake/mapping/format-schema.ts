import { z } from 'zod';
import { isEncoding } from '../reading/decode.ts';

const asRecognized = 'as its bytes show';

/** What a file is where its bytes do not say it, or say something else. */
export const formatSchema = z.strictObject({
  encoding: z
    .string()
    .max(40)
    .refine(isEncoding, { error: 'is no encoding; usual ones are windows-1252, iso-8859-15, cp850 and shift_jis' })
    .optional()
    .meta({
      absent: 'UTF-8, or UTF-16 with a byte order mark',
      description: 'Encoding of the text, such as `windows-1252`; it is never guessed',
    }),
  delimiter: z
    .string()
    .regex(/^(?!["A-Za-z0-9])[\t\x20-\x7e]$/, 'is not one character between cells such as ";"')
    .optional()
    .meta({ absent: asRecognized, description: 'Character between the cells of a text file' }),
  header: z
    .union([z.int().min(1).max(1000), z.array(z.string().min(1)).min(1)], {
      error: 'is neither the number of the row with the names, from 1, nor a list of names',
    })
    .optional()
    .meta({
      absent: 'the first row',
      takes: 'number of a row, or list of names',
      description: 'Row that holds the names of the columns, or these names where no row does',
    }),
  skip: z
    .union([z.int().min(1).max(1000), z.string().min(1).max(20)], {
      error: 'is neither a number of lines nor what comments begin with',
    })
    .optional()
    .meta({
      absent: 'none',
      takes: 'number, or text',
      description: 'Lines before the header that are passed over: how many, or what they begin with, such as `#`',
    }),
  sheet: z
    .union([z.int().min(1), z.string().min(1).max(100)], { error: 'is neither the name nor the number of a sheet' })
    .optional()
    .meta({ absent: 'the first', takes: 'name or number', description: 'Sheet of a workbook' }),
  records: z.string().min(1).max(500).optional().meta({
    absent: 'the array that the document is, or its only one',
    description: 'Place of the records in a document of JSON or XML, such as `data.items`',
  }),
});
export type FileFormat = z.output<typeof formatSchema>;
