// Makes the bucket that offerline.json names, where there is none. Run once by compose.yaml, in the image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

const { storage } = JSON.parse(readFileSync(join(process.env.OFFERLINE_DATA, 'offerline.json'), 'utf8'));
const secret = ({ file }) => readFileSync(file, 'utf8').trim();
const client = new S3Client({
  region: storage.region ?? 'us-east-1',
  endpoint: storage.endpoint,
  forcePathStyle: true,
  credentials: {
    accessKeyId: secret(storage.access_key_id),
    secretAccessKey: secret(storage.secret_access_key),
  },
});
try {
  await client.send(new CreateBucketCommand({ Bucket: new URL(storage.url).hostname }));
} catch (error) {
  if (error.name !== 'BucketAlreadyOwnedByYou' && error.name !== 'BucketAlreadyExists') throw error;
}
