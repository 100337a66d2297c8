import { withElse } from '../../kit/intake/mapping/field-schema.ts';
import { fieldsSchema } from '../../kit/intake/mapping/mapping-schema.ts';
import { conversionKinds } from '../../kit/vocabulary/values.ts';

/** Fields of a reported conversion; each source may have its own names for them. */
export const reportedFields = [
  'click_id',
  'transaction_id',
  'event_id',
  'status',
  'payout',
  'currency',
  'occurred_at',
  'reason',
] as const;
export type ReportedField = (typeof reportedFields)[number];

/**
 * Where the fields of a report stand in its parameters, which are texts by name: a body's objects are names joined by
 * dots, and its lists are not read.
 */
export const reportFieldsSchema = fieldsSchema('conversions', {
  names: reportedFields,
  required: [['click_id']],
  words: { status: [...conversionKinds, 'ignored'] },
}).superRefine(({ fields }, context) => {
  for (const [name, field] of Object.entries(fields))
    for (const { lowest, first, at = [] } of withElse(field)) {
      const says = (key: string, message: string) => context.addIssue({ code: 'custom', path: [name, key], message });
      if (lowest) says('lowest', 'is for lists, and a report has none');
      if (first) says('first', 'is for lists, and a report has none');
      if (at.includes('')) says('at', 'is the whole report, which is no value: name a parameter');
    }
});
