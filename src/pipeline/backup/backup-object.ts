import type * as Client from '@aws-sdk/client-s3';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { openS3Client, s3Status } from '../../kit/s3/s3-client.ts';
import type { BackupPlace } from './backup-place.ts';

/** Parts of an object: S3 takes ten thousand at most, each of at least 5 MiB but the last. */
const leastPartBytes = 16 * 2 ** 20;
const mostParts = 9_000;

const address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/((?:[\w.=-]+\/)*[\w.=-]*)$/;

/** Returns whether a place is meant as an object of a bucket. */
export function isObjectAddress(place: string): boolean {
  return place.startsWith('s3://');
}

/**
 * An object of a bucket, or for writing a prefix that ends in a slash, below which it gets a name of its own. Keys,
 * region and endpoint are those of the environment, as AWS's own tools read them: a backup outlives `offerline.json`.
 */
export class BackupObject implements BackupPlace {
  readonly name: string;
  readonly #bucket: string;
  readonly #key: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** Throws `UsageError` for what is no address. */
  constructor(name: string, environment: NodeJS.ProcessEnv = process.env) {
    const [, bucket, key] = address.exec(name) ?? [];
    if (bucket === undefined || key === undefined)
      throw new UsageError(
        `${name} is no address such as s3://bucket/backups/ or s3://bucket/network.tar; a bucket's name has 3 characters or more`,
      );
    this.name = name;
    this.#bucket = bucket;
    this.#key = key;
    this.#environment = environment;
  }

  async prepare(proposed: string): Promise<BackupObject> {
    if (this.#key === '' || this.#key.endsWith('/'))
      return new BackupObject(this.name + proposed, this.#environment).prepare(proposed);
    const exists = await this.#using(async ({ sdk, client }) => {
      try {
        await client.send(new sdk.HeadObjectCommand(this.#place));
        return true;
      } catch (error) {
        if (s3Status(error) === 404 && (error as Error).name !== 'NoSuchBucket') return false;
        throw this.#failure('look for', error);
      }
    });
    if (exists)
      throw new UsageError(
        `${this.name} exists already: name another object, or a prefix that ends in a slash, where each backup gets its name`,
      );
    return this;
  }

  /** The object appears when its last part is there; what a killed backup has sent is an upload that never ends. */
  async write(archive: Readable, bytes: number): Promise<void> {
    await this.#using(async ({ client }) => {
      const { Upload } = await import('@aws-sdk/lib-storage');
      const body = new PassThrough({ highWaterMark: 2 ** 20 });
      const upload = new Upload({
        client,
        params: { ...this.#place, Body: body, ContentType: 'application/x-tar' },
        partSize: Math.max(leastPartBytes, Math.ceil(bytes / mostParts)),
        queueSize: 2,
      });
      let broken: unknown;
      const reading = pipeline(archive, body).catch(async (error: unknown) => {
        broken = error;
        await upload.abort();
      });
      try {
        await upload.done();
      } catch (error) {
        archive.destroy();
        await reading;
        throw broken instanceof OfferlineError ? broken : this.#failure('write', error);
      }
    });
  }

  async read(): Promise<Readable> {
    const { sdk, client } = await this.#open();
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand(this.#place));
      return (Body as Readable).once('close', () => client.destroy());
    } catch (error) {
      client.destroy();
      if (s3Status(error) === 404) throw new UsageError(`there is no backup ${this.name}`, { cause: error });
      throw this.#failure('read', error);
    }
  }

  get #place(): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#key };
  }

  async #using<Result>(work: (opened: Awaited<ReturnType<typeof openS3Client>>) => Promise<Result>): Promise<Result> {
    const opened = await this.#open();
    try {
      return await work(opened);
    } finally {
      opened.client.destroy();
    }
  }

  #open(): Promise<{ sdk: typeof Client; client: Client.S3Client }> {
    const environment = this.#environment;
    const endpoint = environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'];
    return openS3Client({
      region: environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? 'us-east-1',
      endpoint,
      pathStyle: endpoint !== undefined,
      keys: {},
      tries: 4,
      // No bound for a whole request: a part takes its time.
      timeouts: { connectionTimeout: 5_000, socketTimeout: 30_000 },
    });
  }

  #failure(doing: string, error: unknown): OfferlineError {
    const { name, message, code } = error as Error & { code?: string };
    const status = s3Status(error);
    const isKeyless = name === 'CredentialsProviderError';
    const reason = status === undefined ? `no whole answer (${code ?? name})` : `HTTP ${status} ${name}: ${message}`;
    return new OfferlineError(
      `cannot ${doing} ${this.name}: ${isKeyless ? 'there are no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY' : reason.replaceAll(/\s+/g, ' ').slice(0, 300)}`,
      undefined,
      { cause: error },
    );
  }
}
