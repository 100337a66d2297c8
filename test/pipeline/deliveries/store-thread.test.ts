import { expect, it } from 'vitest';
import { StoreThread } from '../../../src/postbacks/store/store-thread.ts';

const update = { finished: [], unsent: [], circuits: [], claims: [] };
const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

it('fails where its thread ends without an error, then and later', async () => {
  const thread = new StoreThread('', program('import "node:worker_threads"; process.exit(3)'));
  await expect(thread.apply(update)).rejects.toThrow('the thread that writes deliveries ended with code 3');
  await expect(thread.apply(update)).rejects.toThrow('ended with code 3');
  await thread.close();
});

it('fails with the error that ends its thread', async () => {
  const thread = new StoreThread('', program('throw new Error("no such store")'));
  await expect(thread.apply(update)).rejects.toThrow('no such store');
  await thread.close();
});
