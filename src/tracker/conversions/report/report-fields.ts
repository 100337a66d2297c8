import { compileMapping, type CompiledMapping } from '../../../kit/intake/mapping/compile-mapping.ts';
import { scalarText } from '../../../kit/intake/mapping/places.ts';
import type { JsonObject } from '../../../kit/text/json-text.ts';
import { unfilledMacro } from '../../../kit/text/macros.ts';
import {
  postbackParametersOf,
  type PostbackSettings,
  type ReversalSettings,
} from '../../../sources/config/postback-settings.ts';
import type { ReportedField } from '../../../sources/config/report-fields.ts';
import type { SentParameters } from '../guard/sent-parameters.ts';
import { Refusal } from './refusal.ts';

/** Our fields, each with the function that reads it from the parameters of a source. */
export type ReportMapping = ReadonlyMap<string, CompiledMapping>;

/** Undefined for a source whose settings have names of parameters alone. */
export function reportMapping({ fields }: Pick<PostbackSettings, 'fields'>): ReportMapping | undefined {
  if (fields === undefined) return undefined;
  return new Map(
    Object.entries(fields.fields).map(([name, field]) => {
      const alone = { fields: { [name]: field }, events: undefined };
      return [name, compileMapping({ fields: alone }, 'conversions')];
    }),
  );
}

interface FieldsReading {
  settings: Pick<PostbackSettings, 'parameters' | 'fields'>;
  mapping: ReportMapping | undefined;
}

/** The fields of one report. */
export class ReportFields {
  readonly #parameters: SentParameters;
  readonly #reading: FieldsReading;
  /** The parameters as the record that a mapping reads. */
  readonly #record: JsonObject;

  constructor(parameters: SentParameters, reading: FieldsReading) {
    this.#parameters = parameters;
    this.#reading = reading;
    this.#record = reading.mapping === undefined ? {} : Object.fromEntries(parameters.pairs);
  }

  /** Returns true where a word of the mapping says that the report does not count. */
  arePassedOver(): boolean {
    return [...(this.#reading.mapping?.values() ?? [])].some((read) => 'passedOver' in read.map(this.#record));
  }

  /** Throws `Refusal` for a value that cannot be meant. */
  get(field: ReportedField): string | undefined {
    const name = this.#nameOf(field);
    const sent = this.#parameters.get(name);
    if (sent !== undefined) this.#check(field, name, sent);
    const { mapping } = this.#reading;
    return mapping === undefined ? sent : this.#mapped(field, mapping);
  }

  /** Returns true where a parameter of the source's own holds one of the words. */
  hasWord({ parameter, values }: NonNullable<ReversalSettings['word']>): boolean {
    const word = this.#parameters.get(parameter)?.trim().toLowerCase();
    return values.some((value) => value.toLowerCase() === word);
  }

  /** Returns true where the settings name the parameter of a field. */
  isNamed(field: ReportedField): boolean {
    const { fields, parameters } = this.#reading.settings;
    return (fields?.fields[field] ?? parameters[field]) !== undefined;
  }

  mistake(field: ReportedField, what: string): Refusal {
    return new Refusal('invalid_parameter', `${this.#nameOf(field)} ${what}`);
  }

  #check(field: ReportedField, name: string, sent: string): void {
    if (field !== 'reason' && this.#parameters.damaged.has(name))
      throw this.mistake(field, 'is not percent-encoded UTF-8');
    if (!sent.isWellFormed()) throw this.mistake(field, 'has half of a surrogate pair');
    // A reason is any text, and no conversion is refused for what only people read.
    if (field !== 'reason' && unfilledMacro(sent) !== undefined)
      throw this.mistake(field, 'is a macro that was not replaced');
  }

  #mapped(field: ReportedField, mapping: ReportMapping): string | undefined {
    const read = mapping.get(field)?.map(this.#record);
    if (read === undefined || 'passedOver' in read) return undefined;
    const value = read.record[field];
    if (read.fault === undefined) {
      const text = scalarText(value) ?? (typeof value === 'number' ? String(value) : '');
      // A word may stand for an absent value.
      return text === '' ? undefined : text;
    }
    // No conversion is refused for what only people read.
    if (field === 'reason') return undefined;
    throw this.mistake(field, 'is not written as the settings of this source say');
  }

  /** The first name that has a value, as a mapping takes it, or else the first. */
  #nameOf(field: ReportedField): string {
    const names = postbackParametersOf(this.#reading.settings, field);
    return names.find((name) => (this.#parameters.get(name) ?? '').trim() !== '') ?? names[0] ?? field;
  }
}
