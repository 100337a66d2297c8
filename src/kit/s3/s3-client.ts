import type * as Sdk from '@aws-sdk/client-s3';
import { boundAnswers } from '../guard/bounded-answers.ts';

export interface S3Access {
  region: string;
  /** Address of the store; undefined for AWS's own. */
  endpoint: string | undefined;
  /** Puts the bucket into the path instead of the host name. */
  pathStyle: boolean;
  /** Incomplete where the client looks for keys itself. */
  keys: {
    access_key_id?: string | undefined;
    secret_access_key?: string | undefined;
    session_token?: string | undefined;
  };
  /** Tries of each request by the client itself; 1 where the caller retries by a rule of its own. */
  tries: number;
  timeouts: {
    connectionTimeout: number;
    socketTimeout?: number;
    requestTimeout?: number;
    throwOnRequestTimeout?: boolean;
  };
}

/**
 * Loads the official SDK and opens a client that follows no redirect, writes nothing to standard error and reads
 * answers up to a bound.
 */
export async function openS3Client(access: S3Access): Promise<{ sdk: typeof Sdk; client: Sdk.S3Client }> {
  const sdk = await import('@aws-sdk/client-s3');
  const { region, endpoint, pathStyle, keys, tries, timeouts } = access;
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = keys;
  const client = new sdk.S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } }),
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    maxAttempts: tries,
    followRegionRedirects: false,
    // Stores that are not AWS give no checksums, or others for a part of an object: asked for where an object is whole.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: timeouts,
  });
  boundAnswers(client);
  return { sdk, client };
}

/** Returns the HTTP status of an error of the client; undefined where no whole answer arrived. */
export function s3Status(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

function ignore(): void {
  // Errors are thrown; the client's log would go to standard error.
}
