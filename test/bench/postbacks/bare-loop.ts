/**
 * node bare-loop.ts <address> <requests> <at once>
 *
 * The yardstick of delivering: undici asks the same receiver as often, with as many requests at once, and nothing else
 * happens. The address has the length of a postback's. Prints its seconds.
 */
import { Agent, request } from 'undici';

const [address = '', requests = '', atOnce = ''] = process.argv.slice(2);
const dispatcher = new Agent();
const path = `${address}/postback?event=credit&site_key=s00&user_id=user-000000&click_id=click-000000&reward=0.5&signature=${'0'.repeat(64)}`;
let left = Number(requests);

async function sendInTurn(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const { statusCode, body } = await request(path, { dispatcher });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the receiver answered ${statusCode}`);
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(atOnce) }, sendInTurn));
process.stdout.write(JSON.stringify({ seconds: (performance.now() - started) / 1000 }));
await dispatcher.close();
