import type { Readable } from 'node:stream';
import type * as Client from '@aws-sdk/client-s3';
import type { Redactor } from '../../kit/config/secrets.ts';
import type { S3Settings } from '../config/s3-settings.ts';
import { openS3Client } from '../../kit/s3/s3-client.ts';
import { BucketError, bucketError } from './bucket-error.ts';
import type { ListedObject } from './listed-object.ts';
import { withTries, type Asking } from './tries.ts';

/** Settings by which a bucket is reached. */
export interface BucketAccess {
  settings: S3Settings;
  /** The store's address; undefined for AWS's own. */
  baseUrl: string | undefined;
  /** By name; empty where the client looks for them itself. */
  secrets: Readonly<Record<string, string>>;
  redactor: Redactor;
}

export interface ListPage {
  objects: ListedObject[];
  /** Token of the next page; undefined after the last one. */
  next: string | undefined;
}

const pageKeys = 1000;
const connectMilliseconds = 10_000;
/** Time until an answer begins. */
const answerMilliseconds = 60_000;

/** A bucket of a store that speaks S3, by the official client, which is loaded only here. Errors are `BucketError`s. */
export class Bucket implements Disposable {
  readonly name: string;
  readonly #sdk: typeof Client;
  readonly #client: Client.S3Client;

  private constructor(sdk: typeof Client, client: Client.S3Client, name: string) {
    this.#sdk = sdk;
    this.#client = client;
    this.name = name;
  }

  /** Finds the keys, too: those that the client has found are taken out of every text from now on. */
  static async open({ settings, baseUrl, secrets, redactor }: BucketAccess): Promise<Bucket> {
    const { sdk, client } = await openS3Client({
      region: settings.region,
      endpoint: baseUrl,
      pathStyle: settings.path_style ?? baseUrl !== undefined,
      keys: secrets,
      // `Tries` asks again.
      tries: 1,
      timeouts: {
        connectionTimeout: connectMilliseconds,
        requestTimeout: answerMilliseconds,
        throwOnRequestTimeout: true,
      },
    });
    try {
      const found = await client.config.credentials();
      for (const secret of [found.accessKeyId, found.secretAccessKey, found.sessionToken])
        if (secret !== undefined) redactor.add(secret);
    } catch (error) {
      client.destroy();
      throw bucketError(error, (text) => redactor.redact(text), settings.bucket);
    }
    return new Bucket(sdk, client, settings.bucket);
  }

  /** A page of up to 1,000 keys. `from`: what the page before gave as `next`. */
  async list(prefix: string, from: string | undefined, asking: Asking): Promise<ListPage> {
    try {
      const page = await withTries(asking, `listing bucket ${this.name}`, () =>
        this.#client.send(
          new this.#sdk.ListObjectsV2Command({
            Bucket: this.name,
            Prefix: prefix,
            MaxKeys: pageKeys,
            // XML cannot hold every character that a key may have.
            EncodingType: 'url',
            ...(from === undefined ? {} : { ContinuationToken: from }),
          }),
          { abortSignal: asking.signal },
        ),
      );
      // Whatever else answers with XML would look like an empty bucket.
      if (page.Name === undefined)
        throw new BucketError('bucket', `bucket ${this.name}: the answer is not an S3 bucket listing; check base_url`);
      const plain = page.EncodingType === 'url' ? decoded : (key: string) => key;
      const next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (page.IsTruncated === true && (next === undefined || next === from))
        throw new BucketError('bucket', `bucket ${this.name}: its list says there is more, and not where`);
      return { objects: (page.Contents ?? []).map((object) => this.#listed(object, plain)), next };
    } catch (error) {
      throw this.#asBucketError(error, asking);
    }
  }

  /**
   * The bytes of an object from one position to before another, as long as it is the listed one. One try; what the
   * client threw is thrown as it is, for `Tries`. Throws `BucketError` where the answer is none to what was asked.
   */
  async read(object: ListedObject, from: number, to: number, signal: AbortSignal): Promise<Readable> {
    const isWhole = from === 0 && to === object.bytes;
    const answer = await this.#client.send(
      new this.#sdk.GetObjectCommand({
        Bucket: this.name,
        Key: object.key,
        IfMatch: object.etag,
        ...(isWhole ? { ChecksumMode: 'ENABLED' } : { Range: `bytes=${from}-${to - 1}` }),
      }),
      { abortSignal: signal },
    );
    const body = answer.Body as Readable;
    const refuse = (error: BucketError) => {
      body.on('error', () => undefined).destroy();
      throw error;
    };
    const where = `object ${object.key} of bucket ${this.name}`;
    if (answer.ETag !== undefined && bare(answer.ETag) !== bare(object.etag))
      refuse(new BucketError('moved', `${where}: it is not the listed one any more`));
    if (!isWhole && answer.ContentRange !== `bytes ${from}-${to - 1}/${object.bytes}`)
      refuse(new BucketError('object', `${where}: a part was asked for, and the store gave another one or all of it`));
    return body;
  }

  /** An error of the client as one for an operator, but the signal's reason once that is aborted. */
  #asBucketError(error: unknown, { signal, redact }: Asking): unknown {
    return signal.aborted ? signal.reason : bucketError(error, redact, this.name);
  }

  #listed(object: Client._Object, plain: (key: string) => string): ListedObject {
    const { Key, ETag, Size, LastModified, StorageClass } = object;
    if (Key === undefined || ETag === undefined || Size === undefined || LastModified === undefined)
      throw new BucketError('bucket', `bucket ${this.name}: its list lacks a key, ETag, size or time of an object`);
    return {
      key: plain(Key),
      etag: ETag,
      bytes: Size,
      modified: LastModified.getTime(),
      storageClass: StorageClass ?? 'STANDARD',
    };
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }
}

function decoded(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

/** Stores differ in whether they quote it. */
function bare(etag: string): string {
  return etag.replaceAll('"', '');
}
