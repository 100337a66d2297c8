import {
  readPostbackSecrets,
  type PostbackSecrets,
  type PostbackSettings,
} from '../../../sources/config/postback-settings.ts';
import { isInNetwork } from '../../../kit/http/client-address.ts';
import { singleHeader, type ConversionRequest } from './conversion-request.ts';
import { isOneOf } from './secret-text.ts';
import { SentParameters } from './sent-parameters.ts';
import { isSigned } from './signatures.ts';

/** Shorter secrets can be guessed, or are in a list of passwords. */
const minSecret = 16;

/** Lets requests of a source pass: every guard that it has must do so. */
export class SourceGuard {
  readonly secrets: readonly string[];
  readonly warnings: readonly string[];
  readonly #settings: PostbackSettings;
  readonly #read: PostbackSecrets;
  readonly #isAllowed: (address: string) => boolean;

  /** Throws `UsageError` where a secret cannot be read. */
  constructor(source: string, settings: PostbackSettings, environment: NodeJS.ProcessEnv = process.env) {
    this.#settings = settings;
    this.#read = readPostbackSecrets(source, settings, environment);
    this.#isAllowed = settings.allow === undefined ? () => true : isInNetwork(settings.allow);
    this.secrets = [...this.#read.tokens, ...this.#read.keys];
    this.warnings = this.secrets.some((secret) => secret.length < minSecret)
      ? [`${source}: a secret of its postback has fewer than ${minSecret} characters; agree on a longer one`]
      : [];
  }

  /** `now` in milliseconds since the epoch. */
  letsPass(request: ConversionRequest, parameters: SentParameters, now: number): boolean {
    const { token, token_parameter: tokenParameter, signature } = this.#settings;
    const isAllowed = this.#isAllowed(request.address);
    const hasToken = token === undefined || isOneOf(this.#read.tokens, tokenOf(request, parameters, tokenParameter));
    return (
      isAllowed &&
      hasToken &&
      (signature === undefined || isSigned(signature, this.#read.keys, request, parameters, now))
    );
  }

  /**
   * Selects the parameters that the sender vouches for, of a request that passed. Standard Webhooks sign the body of a
   * POST alone: anyone who overheard such a request may have changed its query.
   */
  vouchedFor(request: ConversionRequest, parameters: SentParameters): SentParameters {
    const isBodyAlone = this.#settings.signature?.scheme === 'standard_webhooks' && request.method === 'POST';
    return isBodyAlone ? SentParameters.ofBody(request) : parameters;
  }

  /** Returns true for a parameter that only lets the request pass, and is not to be kept. */
  isCredential(parameter: string): boolean {
    const { token_parameter: tokenParameter, signature } = this.#settings;
    const own = signature !== undefined && 'parameter' in signature ? signature.parameter : undefined;
    return parameter === tokenParameter || parameter === own;
  }
}

/** The token that a request carries; empty where it carries none. */
function tokenOf({ headers }: ConversionRequest, parameters: SentParameters, name: string): string {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(singleHeader(headers, 'authorization') ?? '') ?? [];
  return bearer ?? parameters.get(name) ?? '';
}

/** Refuses a request of an unknown source, in the time that the comparison for a known one takes. */
export function refuseUnknown(request: ConversionRequest, parameters: SentParameters): false {
  isOneOf([''], `no source ${tokenOf(request, parameters, 'token')}`);
  return false;
}
