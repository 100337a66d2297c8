import { createHmac, hash } from 'node:crypto';
import type { SignatureSettings } from '../../../sources/config/postback-settings.ts';
import { percentEncoded } from '../../../kit/text/percent-encoded.ts';
import { signedContent, singleHeader, type ConversionRequest } from './conversion-request.ts';
import { isOneOf } from './secret-text.ts';
import type { SentParameters } from './sent-parameters.ts';
import { compareTexts } from '../../../kit/text/compare-texts.ts';

/**
 * Bounds the difference of a request's own time to ours, either way, so that it cannot be sent again later. Seconds.
 */
const toleranceSeconds = 300;

/** Returns true for a request with the signature of one of the secrets. `now` in milliseconds since the epoch. */
export function isSigned(
  settings: SignatureSettings,
  secrets: readonly string[],
  request: ConversionRequest,
  parameters: SentParameters,
  now: number,
): boolean {
  /** Computes the signed text only where a signature was sent. */
  const expectedBy = (given: string | undefined, signedText: () => string) => {
    if (given === undefined) return false;
    const text = signedText();
    return isOneOf(
      secrets.map((secret) => hmacHex(secret, text)),
      given,
    );
  };
  if (settings.scheme === 'standard_webhooks') return isSignedWebhook(secrets, request, now);
  if (settings.scheme === 'ayet')
    return expectedBy(singleHeader(request.headers, settings.header)?.toLowerCase(), () => ayetText(parameters));
  if (settings.scheme === 'md5') {
    const { template, parameter } = settings;
    const given = parameters.get(parameter)?.toLowerCase();
    const md5By = (secret: string) => hash('md5', filledTemplate(template, parameters, secret), 'hex');
    return given !== undefined && isOneOf(secrets.map(md5By), given);
  }
  return (
    isRecent(parameters.get('timestamp'), now) &&
    expectedBy(parameters.get(settings.parameter), () => ownText(parameters, settings.parameter))
  );
}

export function hmacHex(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** Plain digits of seconds since the epoch, near to now. */
function isRecent(timestamp: string | undefined, now: number): boolean {
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(now - Number(timestamp) * 1000) <= toleranceSeconds * 1000;
}

function sortedPairs({ pairs }: SentParameters): SentParameters['pairs'] {
  return pairs.toSorted(([one], [other]) => compareTexts(one, other));
}

/** The text that our own scheme signs: all parameters but the signature, sorted by name, percent-encoded. */
export function ownText(parameters: SentParameters, signatureParameter: string): string {
  return sortedPairs(parameters)
    .filter(([name]) => name !== signatureParameter)
    .map(([name, value]) => `${percentEncoded(name)}=${parameters.encoded(name, value)}`)
    .join('&');
}

/** The Standard Webhooks specification. Several signatures may be given, each with its version. */
function isSignedWebhook(secrets: readonly string[], request: ConversionRequest, now: number): boolean {
  // Svix has other names for the same headers.
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (name) => singleHeader(request.headers, `webhook-${name}`) ?? singleHeader(request.headers, `svix-${name}`),
  );
  if (!id || timestamp === undefined || signatures === undefined || !isRecent(timestamp, now)) return false;
  const expected = secrets.map((secret) => webhookSignature(secret, id, timestamp, signedContent(request)));
  return signatures.split(' ').reduce((found, given) => isOneOf(expected, given) || found, false);
}

/** With its version, as a header of the specification carries it. */
export function webhookSignature(secret: string, id: string, timestamp: string, content: string | Buffer): string {
  const mac = createHmac('sha256', webhookKey(secret)).update(`${id}.${timestamp}.`);
  return `v1,${mac.update(content).digest('base64')}`;
}

/** Libraries for it write a key as `whsec_` and base64; any other text is its own bytes. */
function webhookKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
}

/** The sorted parameters as PHP's `http_build_query` writes them. */
export function ayetText(parameters: SentParameters): string {
  return sortedPairs(parameters)
    .map(([name, value]) => `${percentEncoded(name)}=${parameters.encoded(name, value)}`)
    .join('&')
    .replaceAll('%20', '+')
    .replaceAll('~', '%7E');
}

/** A template with the parameters' values, and the secret, in place of the names in braces. */
export function filledTemplate(template: string, parameters: SentParameters, secret: string): string {
  return template.replaceAll(/\{([^{}:]+)(:whole)?\}/g, (_braces, name: string, whole: string | undefined) => {
    if (name === 'secret') return secret;
    const value = parameters.get(name) ?? '';
    return whole === undefined ? value : (value.split('.', 1)[0] ?? '');
  });
}
