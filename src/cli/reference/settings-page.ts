import { z } from 'zod';
import { environmentSchema } from '../../kit/config/environment.ts';
import { settingsSchema } from '../../kit/config/settings.ts';
import { sitesSchema } from '../../kit/sites/sites.ts';
import { sourcesSchema } from '../../sources/config/sources-file.ts';
import { markdownTable } from './markdown-table.ts';

type Schema = z.core.JSONSchema.BaseSchema;
type Properties = Record<string, Schema>;

/** A setting, as a row of the page says it. */
interface Setting {
  path: string;
  type: string;
  default: string;
  unit: string;
  meaning: string;
}

/** Files of settings, in the order of the page. */
const files = [
  {
    title: '`offerline.json`',
    schema: settingsSchema,
    text: 'Optional, and so is every key. Commands read it when they start; a service, a schedule, a tracker or a console that runs has to be started again, but a tracker follows `rates`.',
  },
  {
    title: '`sites.json`',
    schema: sitesSchema,
    text: 'Publishers’ sites. A run reads it at its start; the service and the tracker follow changes. A broken file leaves the last good one in force and fails the next run, which changes nothing. Keys beside `sites` are kept, and nothing reads them.',
  },
  {
    title: '`sources.json`',
    schema: sourcesSchema,
    text: 'Networks and buckets that are pulled, and who may report conversions; [examples](../src/sources/README.md). The schedule and the tracker follow changes; a broken file leaves the last good one in force. A source needs what its connector names: `sources check` says what is missing. Texts of `offers` and `conversions` may hold `{name}`: a secret’s name, `page` (or the row to begin at), `size`, `cursor`, `from` and `to`. A *place* is keys joined by dots, such as `response.data.count`, that lead to a value in the answer.',
  },
  {
    title: 'Environment variables',
    schema: environmentSchema,
    text: 'Without keys in `storage` or in the secrets of an `s3` source, the S3 client reads the variables of AWS’s own tools, too (`AWS_ACCESS_KEY_ID` and others).',
  },
];

const introduction = `# Settings

Generated from the schemas in \`src/kit/config\`, \`src/kit/sites\` and \`src/sources/config\` by \`npm run -s generate\`: do not edit,
change the schema and generate it again.

The first three are JSON files in the [data directory](README.md#the-data-directory): regular ones of at most 16 MiB, or links to
such. A key that is not known is an error, so that a typo is seen; the error names file and key, never a value. A *secret* is a
text, \`{"env": "NAME"}\` or \`{"file": "/path"}\`.

Rates, zones, \`mode\` and \`unpacked_gigabytes\` decide how a landing file is read. When one of them changes, the next run reads
again by itself what it can heal, as long as the file is still in the landing folder: catalogs that name a currency with another
rate or whose source has another zone or mode, logs with rows that lacked a zone, files that were beyond the limit. Nothing counts
twice, and a row that was once accepted stays as it was.
`;

/** The text of `data/settings.md`. Throws where a setting lacks a description or, being optional, a default. */
export function settingsPage(): string {
  const sections = files.map(({ title, schema, text }) => {
    const rows = settingsOf(schema).map(({ path, meaning, ...rest }) => ({ key: `\`${path}\``, ...rest, meaning }));
    return `## ${title}\n\n${text}\n\n${markdownTable(rows)}`;
  });
  return [introduction, ...sections].join('\n');
}

/** Settings of a file, each by its place in it: `schedule.refresh.cron`, `sites[].site_key`, `sources.<name>.mode`. */
export function settingsOf(schema: z.ZodType): Setting[] {
  return below('', z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

function below(path: string, schema: Schema): Setting[] {
  if (isSimple(schema)) return [];
  const variants = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])] as Schema[];
  const objects = variants.filter(({ properties }) => properties !== undefined);
  const items = variants.flatMap(({ items: item }) => (isObject(item) ? below(`${path}[]`, item) : []));
  const byName = variants.flatMap(({ additionalProperties: value }) =>
    isObject(value) ? below(`${path}.<name>`, value) : [],
  );
  return [...merged(objects).flatMap(([name, of]) => settings(path, name, of, objects)), ...items, ...byName];
}

/** Properties of all variants of an object, each with the variants that have it. */
function merged(objects: Schema[]): [name: string, of: Schema[]][] {
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties as Properties)));
  return [...names].map((name) => [name, objects.filter(({ properties }) => name in (properties as Properties))]);
}

function settings(parent: string, name: string, of: Schema[], all: Schema[]): Setting[] {
  const path = parent === '' ? name : `${parent}.${name}`;
  const schemas = of.map(({ properties }) => (properties as Properties)[name] as Schema);
  const [first = {}] = schemas;
  const schema = schemas.find(({ description }) => description !== undefined) ?? first;
  const parts = below(path, schema);
  if (schema.description === undefined && parts.length > 0) return parts;
  const type = schemas.every(({ const: value }) => value !== undefined)
    ? schemas.map(({ const: value }) => code(value)).join(', ')
    : typeOf(schema);
  return [
    {
      path,
      type,
      default: of.some(({ required }) => required?.includes(name)) ? '**required**' : defaultOf(path, schema),
      unit: typeof schema['unit'] === 'string' ? schema['unit'] : '',
      meaning: meaningOf(path, schema) + onlyWith(of, all),
    },
    ...parts,
  ];
}

/** Values whose inner keys are no settings, such as a secret's `env`: the page explains them once. */
function isSimple({ takes, properties }: Schema): boolean {
  return typeof takes === 'string' && properties === undefined && !takes.includes('object');
}

/** Names the variants that have the setting where others lack it. */
function onlyWith(of: Schema[], all: Schema[]): string {
  if (of.length === all.length) return '';
  const chosen = of.flatMap(({ properties }) =>
    Object.entries(properties as Properties).flatMap(([key, { const: value }]) =>
      value === undefined ? [] : [`\`${key}\` ${code(value)}`],
    ),
  );
  return ` (${chosen.join(' or ')})`;
}

function meaningOf(path: string, { description }: Schema): string {
  if (description === undefined)
    throw new Error(`the setting ${path} has no description: add .describe() to its schema`);
  return description;
}

function defaultOf(path: string, schema: Schema): string {
  if (typeof schema['absent'] === 'string') return schema['absent'];
  if (schema.default === undefined)
    throw new Error(`the setting ${path} has no default: say by .meta({ absent }) what its absence means`);
  return code(schema.default);
}

function typeOf(schema: Schema): string {
  const { takes, type, enum: values, const: value, format, items, anyOf } = schema;
  if (typeof takes === 'string') return takes;
  if (value !== undefined) return code(value);
  if (values !== undefined) return values.map(code).join(', ');
  if (anyOf !== undefined) return [...new Set(anyOf.map((each) => typeOf(each)))].join(' or ');
  if (type === 'array') return isObject(items) ? `list of ${typeOf(items)}` : 'list';
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'integer') return `whole number${rangeOf(schema)}`;
  if (type === 'number') return `number${rangeOf(schema)}`;
  if (type === 'string') return format === 'uri' ? 'address' : 'text';
  return 'object';
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const above = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`;
  const least = bound(minimum);
  const most = bound(maximum);
  if (least !== undefined && most !== undefined) return ` ${least}–${most}`;
  return above + (least === undefined ? '' : ` from ${least}`) + (most === undefined ? '' : ` to ${most}`);
}

/** Integers have JavaScript's own bounds where they have no others. */
function bound(value: number | undefined): number | undefined {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value;
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function isObject(schema: unknown): schema is Schema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema);
}
