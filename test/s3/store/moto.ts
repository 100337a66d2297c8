import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

const script = fileURLToPath(new URL('moto-server.py', import.meta.url));
export const bucketName = 'logs';

/** A store on loopback that speaks S3: moto, a server of other people's making. */
export class Moto implements AsyncDisposable {
  readonly url: string;
  readonly #end: () => Promise<void>;
  readonly #client: S3Client;

  private constructor(port: string, end: () => Promise<void>) {
    this.url = `http://127.0.0.1:${port}`;
    this.#end = end;
    this.#client = new S3Client({
      endpoint: this.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    });
  }

  /** `filled`: so many small objects are in the bucket at once. */
  static async start({ filled = 0, environment = {} }: { filled?: number; environment?: NodeJS.ProcessEnv } = {}) {
    const python = process.env['OFFERLINE_TEST_MOTO'];
    if (python === undefined) throw new Error('these tests are started by `npm run test:s3`');
    const server = spawn(python, [script, String(filled)], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...environment },
    });
    const ended = once(server, 'exit');
    const lines = createInterface({ input: server.stdout });
    const [port] = (await Promise.race([
      once(lines, 'line'),
      ended.then(() => Promise.reject(new Error('moto did not start'))),
    ])) as [string];
    const moto = new Moto(port, async () => {
      server.kill('SIGKILL');
      await ended;
    });
    return moto;
  }

  async createBucket(): Promise<void> {
    await this.#client.send(new CreateBucketCommand({ Bucket: bucketName }));
  }

  async put(key: string, content: string | Buffer): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: bucketName, Key: key, Body: Buffer.from(content) }));
  }

  /** As large files are put: its ETag and checksum are then of the parts. */
  async putInParts(key: string, parts: readonly Buffer[]): Promise<void> {
    const object = { Bucket: bucketName, Key: key };
    const begun = await this.#client.send(new CreateMultipartUploadCommand({ ...object, ChecksumAlgorithm: 'SHA256' }));
    const upload = { ...object, UploadId: begun.UploadId };
    const put = parts.map(async (Body, index) => {
      const part = { ...upload, PartNumber: index + 1, Body, ChecksumAlgorithm: 'SHA256' } as const;
      const { ETag, ChecksumSHA256 } = await this.#client.send(new UploadPartCommand(part));
      return { PartNumber: part.PartNumber, ETag, ChecksumSHA256 };
    });
    const Parts = await Promise.all(put);
    await this.#client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  }

  /** Lets everybody read the objects below a prefix, and no others. */
  async openToAll(prefix: string): Promise<void> {
    const Resource = `arn:aws:s3:::${bucketName}/${prefix}*`;
    const Statement = [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource }];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await this.#client.send(new PutBucketPolicyCommand({ Bucket: bucketName, Policy }));
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand({ Bucket: bucketName, Key: key }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
    await this.#end();
  }
}
