import { OverlongAnswerError } from '../../kit/guard/bounded-answers.ts';

/**
 * Kinds of what goes wrong with a bucket.
 * - `moved`: the object is not the listed one any more
 * - `archived`: it has to be restored first
 * - `object`: the store does not give it, others may come
 * - `bucket`: nothing more can be had now
 */
export type BucketFault = 'moved' | 'archived' | 'object' | 'bucket';

/** The message names bucket and key and what to do, and may hold what the store said: redact it. */
export class BucketError extends Error {
  readonly fault: BucketFault;
  constructor(fault: BucketFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** The parts of an error of the client that are looked at. */
interface ClientError {
  name?: string;
  message?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { headers?: Record<string, string | undefined> };
}

/** A longer quotation of what the store said does not help. */
const maxQuotedCharacters = 300;

const advices: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'see access_key_id in "secrets"',
  SignatureDoesNotMatch: 'see secret_access_key in "secrets", and the region',
  InvalidToken: 'see session_token in "secrets"',
  ExpiredToken: 'the session_token in "secrets" has ended',
  AccessDenied: 'the key needs s3:ListBucket for the bucket and s3:GetObject for its objects',
  NoSuchBucket: 'see "bucket" and base_url',
  PermanentRedirect: 'the bucket is in another region: say which by "region"',
  TemporaryRedirect: 'the bucket is at another address, which is not followed: see base_url',
  AuthorizationHeaderMalformed: 'see "region"',
  RequestTimeTooSkewed: "this machine's clock is wrong",
  CredentialsProviderError: 'give access_key_id and secret_access_key in "secrets"',
};

/** Turns an error of the client into one that names the bucket, and the object where a key is given. */
export function bucketError(
  error: unknown,
  redact: (text: string) => string,
  bucket: string,
  key?: string,
): BucketError {
  if (error instanceof BucketError) return error;
  const { name = 'Error', $metadata } = error as ClientError;
  const status = $metadata?.httpStatusCode;
  const where = key === undefined ? `bucket ${bucket}` : `object ${key} of bucket ${bucket}`;
  if (key !== undefined && (status === 404 || status === 412 || status === 416) && name !== 'NoSuchBucket')
    return new BucketError('moved', `${where}: it is not the listed one any more`, { cause: error });
  if (key !== undefined && name === 'InvalidObjectState')
    return new BucketError('archived', `${where}: it is archived`, { cause: error });
  if (error instanceof OverlongAnswerError)
    return new BucketError('bucket', `${where}: ${error.message}, which none of S3 has; see base_url`, {
      cause: error,
    });
  const advice = advices[name];
  const isOfObject = key !== undefined && status !== undefined && status >= 400 && status < 500 && status !== 429;
  return new BucketError(
    isOfObject ? 'object' : 'bucket',
    `${where}: ${summaryOf(error, redact)}${advice === undefined ? '' : `; ${advice}`}`,
    { cause: error },
  );
}

/** Summary of a failed request in a few words, redacted before they are cut: a part of a secret could stay. */
export function summaryOf(error: unknown, redact: (text: string) => string): string {
  const { name = 'Error', message = '', code, $metadata } = error as ClientError;
  const status = $metadata?.httpStatusCode;
  const text = `${name}: ${redact(message.replaceAll(/\s+/g, ' ')).slice(0, maxQuotedCharacters)}`;
  if (name === 'CredentialsProviderError') return text;
  // The message of a failed connection names the address; that of the client's own timeouts its settings.
  if (status === undefined) return `no whole answer: ${code ?? name}`;
  if (status < 300) return `HTTP ${status} with an answer that is none of S3; see base_url`;
  return `HTTP ${status} ${text}`;
}

const passingNames = ['SlowDown', 'Throttling', 'ThrottlingException', 'RequestTimeout', 'RequestTimeTooSkewed'];

/**
 * Returns whether another try may help: no answer, a store that is busy, or a clock that the client has just set right
 * for itself.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof BucketError || error instanceof OverlongAnswerError) return false;
  const { name = '', $metadata } = error as ClientError;
  const status = $metadata?.httpStatusCode;
  if (passingNames.includes(name)) return true;
  if (status === undefined) return name !== 'CredentialsProviderError';
  return status >= 500 || status === 429 || status === 408;
}

/** Header in which the store says when to come again. */
export function retryAfter(error: unknown): string | undefined {
  return (error as ClientError).$response?.headers?.['retry-after'];
}
