import { compileMapping, type CompiledMapping } from '../../../kit/intake/mapping/compile-mapping.ts';
import { scalarText } from '../../../kit/intake/mapping/places.ts';
import { jsonId } from '../../../kit/text/json-id.ts';
import { JsonNumber, type JsonObject } from '../../../kit/text/json-text.ts';
import { unfilledMacro } from '../../../kit/text/macros.ts';
import {
  postbackParametersOf,
  type PostbackSettings,
  type ReversalSettings,
} from '../../../sources/config/postback-settings.ts';
import { reportedFields, type ReportedField } from '../../../sources/config/report-fields.ts';
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

const idFields: readonly ReportedField[] = ['click_id', 'transaction_id', 'event_id'];

/** The fields of one report. */
export class ReportFields {
  readonly #parameters: SentParameters;
  readonly #reading: FieldsReading;
  /** The parameters as the record that a mapping reads. */
  readonly #record: JsonObject;
  /** The same for ids: a whole number is its digits, however it was written. */
  readonly #idRecord: JsonObject;

  constructor(parameters: SentParameters, reading: FieldsReading) {
    this.#parameters = parameters;
    this.#reading = reading;
    this.#record = reading.mapping === undefined ? {} : Object.fromEntries(parameters.pairs);
    const ids = Object.keys(this.#record).map((name) => [name, this.#idAt(name) ?? '']);
    this.#idRecord = Object.fromEntries(ids) as JsonObject;
    this.#requireTexts();
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
    if (mapping !== undefined) return this.#mapped(field, mapping);
    return idFields.includes(field) ? this.#idAt(name) : sent;
  }

  /** Returns true where a parameter of the source's own holds one of the words. */
  hasWord({ parameter, values }: NonNullable<ReversalSettings['word']>): boolean {
    if (this.#hasNoText(parameter)) throw noText(parameter);
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

  /** Throws `Refusal` for a field that is a list or an object: as an absent one it would be guessed. */
  #requireTexts(): void {
    for (const field of reportedFields) {
      // No conversion is refused for what only people read.
      if (field === 'reason') continue;
      const names = postbackParametersOf(this.#reading.settings, field);
      const valued = names.findIndex((name) => this.#hasValue(name));
      const asked = names.slice(0, valued === -1 ? undefined : valued + 1);
      const wrong = asked.find((name) => this.#hasNoText(name, names[valued]));
      if (wrong !== undefined) throw noText(wrong);
    }
  }

  /** True for a list, an object, and what would be within a list. `within`: a name that an object may lead to. */
  #hasNoText(name: string, within = ''): boolean {
    const { kinds } = this.#parameters;
    if (kinds.get(name) === 'object') return !within.startsWith(`${name}.`);
    const parts = name.split('.');
    return parts.some((_, index) => kinds.get(parts.slice(0, index + 1).join('.')) === 'list');
  }

  #hasValue(name: string): boolean {
    return (this.#parameters.get(name) ?? '').trim() !== '';
  }

  /** Undefined where it is absent, empty or a number that is no id. */
  #idAt(name: string): string | undefined {
    const sent = this.#parameters.get(name);
    if (sent === undefined || this.#parameters.kinds.get(name) !== 'number') return sent;
    return jsonId(new JsonNumber(sent)) ?? undefined;
  }

  #check(field: ReportedField, name: string, sent: string): void {
    if (idFields.includes(field) && this.#idAt(name) === undefined)
      throw this.mistake(field, 'is a number that is not whole; send ids as texts');
    if (field !== 'reason' && this.#parameters.damaged.has(name))
      throw this.mistake(field, 'is not percent-encoded UTF-8');
    if (!sent.isWellFormed()) throw this.mistake(field, 'has half of a surrogate pair');
    // A reason is any text, and no conversion is refused for what only people read.
    if (field !== 'reason' && unfilledMacro(sent) !== undefined)
      throw this.mistake(field, 'is a macro that was not replaced');
  }

  #mapped(field: ReportedField, mapping: ReportMapping): string | undefined {
    const read = mapping.get(field)?.map(idFields.includes(field) ? this.#idRecord : this.#record);
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
    return names.find((name) => this.#hasValue(name)) ?? names[0] ?? field;
  }
}

function noText(parameter: string): Refusal {
  return new Refusal('invalid_parameter', `${parameter} is a list or an object; send one value`);
}
