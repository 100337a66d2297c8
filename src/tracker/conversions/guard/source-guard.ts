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

/** Shorter ones can be guessed, or stand in a list of passwords. */
const shortestSecret = 16;

/** Tells whether requests are a source's: all guards that it has must let one pass. */
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
    this.warnings = this.secrets.some((secret) => secret.length < shortestSecret)
      ? [`${source}: a secret of its postback has fewer than ${shortestSecret} characters; agree on a longer one`]
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
   * What of a request that passed is its sender's word. Standard Webhooks sign the body of a POST alone: what stands in
   * its query may be anybody's, who heard such a request once.
   */
  vouchedFor(request: ConversionRequest, parameters: SentParameters): SentParameters {
    const isBodyAlone = this.#settings.signature?.scheme === 'standard_webhooks' && request.method === 'POST';
    return isBodyAlone ? SentParameters.ofBody(request) : parameters;
  }

  /** Parameters that are only there to let the request pass: not to be kept. */
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

/** Takes as long for a source that there is not as a comparison takes for one that there is. */
export function refuseUnknown(request: ConversionRequest, parameters: SentParameters): false {
  isOneOf([''], `no source ${tokenOf(request, parameters, 'token')}`);
  return false;
}
