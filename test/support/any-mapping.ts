import fc from 'fast-check';

const places = ['id', 'click', 'user', 'at', 'sum', 'state', 'deep.er.key', 'list', 'nowhere', ''];
const place = fc.constantFrom(...places);
const zone = fc.constantFrom('UTC', 'Europe/Berlin', '+05:30');
const field = fc.oneof(
  { weight: 3, arbitrary: place },
  fc.record({ value: fc.constantFrom('x', 7, true, '2026-11-18T10:00:00Z', '1.5') }),
  fc.record(
    { at: fc.array(place, { minLength: 1, maxLength: 3 }), value: fc.constant('rest') },
    { requiredKeys: ['at'] },
  ),
  fc.record(
    { at: place, time: fc.constantFrom('epoch_s', 'epoch_ms', '%d.%m.%Y %H:%M', '%Y-%m-%d'), zone },
    { requiredKeys: ['at', 'time'] },
  ),
  fc.record({
    at: place,
    number: fc.record(
      {
        decimal: fc.constantFrom('.', ','),
        strip: fc.constant(['$', 'EUR']),
        scale: fc.constantFrom(-2, 2),
        round: fc.boolean(),
        sign: fc.constant('drop'),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    at: place,
    words: fc.dictionary(
      fc.constantFrom('paid', 'open', '*', '', 'x'),
      fc.constantFrom('credit', 'reject', 'chargeback', 'pending', null),
    ),
  }),
  fc.record({ at: place, text: fc.constant('html'), trim: fc.constant(true), upper: fc.constant(true) }),
);
const condition = fc.record({ at: place, not: fc.array(fc.constantFrom('paid', 'open', 1, null), { minLength: 1 }) });

const clicksFields = fc.record(
  { click_id: field, offer_id: field, site_key: field, user_id: field, clicked_at: field, country: field, sub1: field },
  { requiredKeys: ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at'] },
);
const conversionFields = fc.record(
  {
    conversion_id: field,
    click_id: field,
    occurred_at: field,
    payout: field,
    currency: field,
    event_id: field,
    changed_at: field,
    version: field,
    reason: field,
  },
  { requiredKeys: ['conversion_id', 'click_id', 'occurred_at'] },
);
/** A mapping of a log as `offerline.json` has it, without `match`. The configuration may refuse it. */
export const anyMapping = fc
  .oneof(
    fc.tuple(fc.constant('clicks'), clicksFields),
    fc.tuple(
      fc.constant('conversions'),
      fc
        .tuple(conversionFields, fc.constantFrom('kind', 'status'), field)
        .map(([fields, name, state]) => ({ ...fields, [name]: state })),
    ),
  )
  .chain(([kind, fields]) =>
    fc.record({ kind: fc.constant(kind), fields: fc.constant(fields), rows: fc.option(condition, { nil: undefined }) }),
  );

const cell = fc.oneof(
  fc.constantFrom(
    '',
    'paid',
    'open',
    '1794996000',
    '18.11.2026 10:00',
    '2026-11-18',
    '1,5',
    '$2.50',
    '\\N',
    'NULL',
    '<b>x</b>',
  ),
  fc.string({ maxLength: 12 }),
  fc.integer({ min: 0, max: 20 }).map(String),
);
const record = fc.record({ id: cell, click: cell, user: cell, at: cell, sum: cell, state: cell });
const csvCell = (text: string) => `"${text.replaceAll('"', '""').replaceAll('\0', '')}"`;
/** A landing file of records that these mappings read. */
export const anyMappedFile = fc.oneof(
  fc.array(record, { minLength: 1, maxLength: 12 }).map((records) => ({
    name: 'a.csv',
    records: records.length,
    text:
      ['id;click;user;at;sum;state', ...records.map((each) => Object.values(each).map(csvCell).join(';'))].join('\n') +
      '\n',
  })),
  fc.array(fc.tuple(record, fc.jsonValue()), { minLength: 1, maxLength: 12 }).map((records) => ({
    name: 'a.json',
    records: records.length,
    text: JSON.stringify(records.map(([each, more]) => ({ ...each, deep: { er: { key: more } }, list: [more] }))),
  })),
);
