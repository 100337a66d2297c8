import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type * as Client from '@aws-sdk/client-s3';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { StorageSettings } from '../../kit/config/storage-settings.ts';
import { readSecret, Redactor } from '../../kit/config/secrets.ts';
import { readThrough } from '../../kit/files/read-through.ts';
import { OverlongAnswerError } from '../../kit/guard/bounded-answers.ts';
import { openS3Client, s3Status } from '../../kit/s3/s3-client.ts';
import { StoreClock } from '../../kit/s3/store-clock.ts';

/** A request to object storage failed; the snapshots published before stay valid. */
export class StorageError extends OfferlineError {}

/** A conditional write that somebody else was faster with. */
export class LostSwapError extends StorageError {}

/** Condition of a write: the object is as it was read, or there is none. */
export type WriteCondition = { etag: string } | 'none';

export interface StoredObject {
  key: string;
  /** Moment of the write, in milliseconds since the epoch, by the store's clock. */
  modified: number;
  bytes: number;
}

/** An object without its bytes. */
export interface ObjectHead {
  etag: string;
  /** Note that its writer left with it. */
  note: string | undefined;
}

export interface StoredText {
  text: string;
  etag: string;
}

/** `connect` and `silence`, while nothing at all comes or goes, in milliseconds, of each try. */
export const storePatience = { tries: 4, connect: 5_000, silence: 30_000 };

/** A larger file is sent as it is read. */
const mostBytesInMemory = 8 * 1024 * 1024;
const firstWaitMilliseconds = 100;
/** Metadata of an object, after S3's own `x-amz-meta-`. */
const noteName = 'offerline';
/** Limit of the pointer, which names the kept snapshots. */
const mostTextMebibytes = 16;

/**
 * One prefix of a bucket, by the official client. Keys are those below the prefix. Errors are `StorageError`s without a
 * secret in them.
 */
export class ObjectStore implements Disposable {
  readonly url: string;
  /** Requests so far, by kind, and bytes written: what publishing costs. */
  readonly cost = { reads: 0, writes: 0, lists: 0, bytesWritten: 0 };
  readonly #sdk: typeof Client;
  readonly #client: Client.S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #redactor: Redactor;
  readonly #tries: number;
  readonly #clock: StoreClock;

  /**
   * `now`: this machine's clock, in milliseconds since the epoch, which is compared with the store's. Throws
   * `UsageError` where a key cannot be read.
   */
  static async open(settings: StorageSettings, patience = storePatience, now = Date.now): Promise<ObjectStore> {
    const secretOf = (name: 'access_key_id' | 'secret_access_key' | 'session_token') => {
      const secret = settings[name];
      return secret === undefined ? undefined : readSecret(`offerline.json: storage.${name}`, secret);
    };
    const [accessKeyId, secretAccessKey] = [secretOf('access_key_id'), secretOf('secret_access_key')];
    const sessionToken = secretOf('session_token');
    const secrets = [accessKeyId, secretAccessKey, sessionToken].filter((secret) => secret !== undefined);
    const { sdk, client } = await openS3Client({
      region: settings.region,
      endpoint: settings.endpoint,
      pathStyle: settings.endpoint !== undefined,
      keys: { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken },
      tries: patience.tries,
      // No bound for a whole request: a large file takes its time.
      timeouts: { connectionTimeout: patience.connect, socketTimeout: patience.silence },
    });
    const clock = new StoreClock(now);
    clock.watch(client);
    return new ObjectStore({ sdk, client }, settings.url, new Redactor(secrets), patience.tries, clock);
  }

  private constructor(
    { sdk, client }: Awaited<ReturnType<typeof openS3Client>>,
    url: string,
    redactor: Redactor,
    tries: number,
    clock: StoreClock,
  ) {
    const { hostname, pathname } = new URL(url);
    this.url = url;
    this.#clock = clock;
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = hostname;
    this.#prefix = pathname === '/' || pathname === '' ? '' : `${pathname.slice(1).replace(/\/$/, '')}/`;
    this.#redactor = redactor;
    this.#tries = tries;
  }

  /** Milliseconds by which this machine's clock is ahead of the store's, as `StoreClock` has it. */
  get clockOffset(): number | undefined {
    return this.#clock.offset;
  }

  /** Undefined where there is none; `unless` itself where it is still that one. */
  async readText<Known extends { etag: string } = StoredText>(
    key: string,
    { unless, signal }: { unless?: Known | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<StoredText | Known | undefined> {
    this.cost.reads++;
    try {
      const { Body, ETag } = await this.#client.send(
        new this.#sdk.GetObjectCommand({
          ...this.#place(key),
          ...(unless === undefined ? {} : { IfNoneMatch: unless.etag }),
        }),
        abortable(signal),
      );
      if (Body === undefined || ETag === undefined) throw new Error('the answer has no body or no ETag');
      return { text: await boundedText(Body as Readable), etag: ETag };
    } catch (error) {
      if (s3Status(error) === 404 && (error as Error).name !== 'NoSuchBucket') return undefined;
      if (s3Status(error) === 304) return unless;
      throw this.#failure('read', key, error);
    }
  }

  /** An object's bytes. Throws where there is none. */
  async read(key: string): Promise<Readable> {
    this.cost.reads++;
    try {
      const { Body } = await this.#client.send(new this.#sdk.GetObjectCommand(this.#place(key)));
      return Body as Readable;
    } catch (error) {
      throw this.#failure('read', key, error);
    }
  }

  /**
   * Writes a text under a condition and gives its ETag. Throws `LostSwapError` where the condition does not hold. A try
   * whose answer was lost may have written it: then it is ours all the same, so nobody else may ever write this text.
   * Gives up where `signal` is aborted.
   */
  async writeText(key: string, text: string, condition: WriteCondition, signal?: AbortSignal): Promise<string> {
    this.cost.writes++;
    this.cost.bytesWritten += Buffer.byteLength(text);
    try {
      const { ETag } = await this.#client.send(
        new this.#sdk.PutObjectCommand({
          ...this.#place(key),
          Body: text,
          ContentType: 'application/json',
          ContentMD5: md5Of(text),
          ...conditionHeader(condition),
        }),
        abortable(signal),
      );
      if (ETag === undefined) throw new Error('the answer has no ETag');
      return ETag;
    } catch (error) {
      if (!isRefused(error)) throw this.#failure('write', key, error);
      const found = await this.readText(key, { signal });
      if (found?.text === text) return found.etag;
      throw this.#lostSwap(key, error);
    }
  }

  /** Writes an object whatever is there. A small file is read first, a large one goes as it is read. */
  async write(key: string, content: Buffer | { path: string; bytes: number }): Promise<void> {
    this.cost.writes++;
    if (!Buffer.isBuffer(content) && content.bytes > mostBytesInMemory) return this.#writeLarge(key, content);
    const bytes = Buffer.isBuffer(content) ? content : await readFile(content.path);
    this.cost.bytesWritten += bytes.length;
    try {
      await this.#client.send(
        new this.#sdk.PutObjectCommand({ ...this.#place(key), Body: bytes, ContentMD5: md5Of(bytes) }),
      );
    } catch (error) {
      throw this.#failure('write', key, error);
    }
  }

  /** The client repeats what it has in memory by itself; a file has to be begun again. */
  async #writeLarge(key: string, { path, bytes }: { path: string; bytes: number }): Promise<void> {
    const ContentMD5 = await md5OfFile(path);
    for (let attempt = 1; ; attempt++) {
      this.cost.bytesWritten += bytes;
      const body = (await open(path)).createReadStream();
      try {
        await this.#client.send(
          new this.#sdk.PutObjectCommand({ ...this.#place(key), Body: body, ContentLength: bytes, ContentMD5 }),
        );
        return;
      } catch (error) {
        const status = s3Status(error) ?? 500;
        if (attempt === this.#tries || (status < 500 && status !== 429)) throw this.#failure('write', key, error);
        await setTimeout(firstWaitMilliseconds * 2 ** attempt);
      } finally {
        body.destroy();
      }
    }
  }

  /** Undefined where there is none. */
  async head(key: string): Promise<ObjectHead | undefined> {
    this.cost.reads++;
    try {
      const { ETag, Metadata } = await this.#client.send(new this.#sdk.HeadObjectCommand(this.#place(key)));
      if (ETag === undefined) throw new Error('the answer has no ETag');
      return { etag: ETag, note: Metadata?.[noteName] };
    } catch (error) {
      if (s3Status(error) === 404) return undefined;
      throw this.#failure('read', key, error);
    }
  }

  /**
   * Writes an object with a note, under a condition. Throws `LostSwapError` where the condition does not hold, also
   * where a try before, whose answer was lost, has written it.
   */
  async replace(key: string, bytes: Buffer, condition: WriteCondition, note: string): Promise<void> {
    this.cost.writes++;
    this.cost.bytesWritten += bytes.length;
    try {
      await this.#client.send(
        new this.#sdk.PutObjectCommand({
          ...this.#place(key),
          Body: bytes,
          ContentMD5: md5Of(bytes),
          Metadata: { [noteName]: note },
          ...conditionHeader(condition),
        }),
      );
    } catch (error) {
      if (!isRefused(error)) throw this.#failure('write', key, error);
      throw this.#lostSwap(key, error);
    }
  }

  /** Copies an object within storage, whatever is there. Returns false where there is nothing to copy. */
  async copy(from: string, to: string): Promise<boolean> {
    this.cost.writes++;
    const { Bucket, Key } = this.#place(from);
    try {
      await this.#client.send(
        new this.#sdk.CopyObjectCommand({ ...this.#place(to), CopySource: encodeURI(`${Bucket}/${Key}`) }),
      );
      return true;
    } catch (error) {
      if (s3Status(error) === 404 && (error as Error).name !== 'NoSuchBucket') return false;
      throw this.#failure('copy to', to, error);
    }
  }

  /** Yields the objects below a prefix, by the order of keys. */
  async *list(prefix: string): AsyncGenerator<StoredObject> {
    let next: string | undefined;
    do {
      this.cost.lists++;
      const page = await this.#client
        .send(
          new this.#sdk.ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            ...(next === undefined ? {} : { ContinuationToken: next }),
          }),
        )
        .catch((error: unknown) => {
          throw this.#failure('list', prefix, error);
        });
      for (const { Key, LastModified, Size } of page.Contents ?? [])
        if (Key !== undefined && LastModified !== undefined)
          yield { key: Key.slice(this.#prefix.length), modified: LastModified.getTime(), bytes: Size ?? 0 };
      next = page.NextContinuationToken;
    } while (next !== undefined);
  }

  async remove(key: string): Promise<void> {
    this.cost.writes++;
    try {
      await this.#client.send(new this.#sdk.DeleteObjectCommand(this.#place(key)));
    } catch (error) {
      throw this.#failure('remove', key, error);
    }
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }

  #lostSwap(key: string, cause: unknown): LostSwapError {
    return new LostSwapError(`${this.url}: another writer has changed ${key} meanwhile`, undefined, { cause });
  }

  #failure(doing: string, key: string, error: unknown): StorageError {
    if (error instanceof StorageError) return error;
    const { name, message, code } = error as Error & { code?: string };
    const status = s3Status(error);
    let reason = status === undefined ? `no whole answer (${code ?? name})` : `HTTP ${status} ${name}: ${message}`;
    if (error instanceof OverlongAnswerError) reason = message;
    if (name === 'CredentialsProviderError') reason = 'there are no keys: give access_key_id and secret_access_key';
    return new StorageError(
      this.#redactor.redact(`${this.url} cannot ${doing} ${key}: ${reason.replaceAll(/\s+/g, ' ').slice(0, 300)}`),
      undefined,
      { cause: error },
    );
  }
}

/** Throws `OverlongAnswerError` where it goes on for ever. */
async function boundedText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostTextMebibytes * 2 ** 20)
      throw new OverlongAnswerError(`it has more than ${mostTextMebibytes} MiB, which no text of ours has`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function conditionHeader(condition: WriteCondition): { IfNoneMatch: '*' } | { IfMatch: string } {
  return condition === 'none' ? { IfNoneMatch: '*' } : { IfMatch: condition.etag };
}

/** A write whose condition did not hold; with 404 the object is gone that it was to replace. */
function isRefused(error: unknown): boolean {
  return [404, 409, 412].includes(s3Status(error) ?? 0) && (error as Error).name !== 'NoSuchBucket';
}

function abortable(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}

function md5Of(bytes: string | Buffer): string {
  return createHash('md5').update(bytes).digest('base64');
}

async function md5OfFile(path: string): Promise<string> {
  const hash = createHash('md5');
  await readThrough(path, (chunk) => void hash.update(chunk));
  return hash.digest('base64');
}
