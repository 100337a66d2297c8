import { parseArgs } from 'node:util';
import { dialects, faultKinds, SimulatedNetwork, type Fault } from './network.ts';
import { simulatedOffers } from './offers.ts';

/**
 * npm run -s simulator -- <dialect> [--offers n] [--faults kind[@request][*times],…] [--port n]
 *
 * A network on loopback that speaks a dialect, until it is stopped; prints the entry for `sources.json`.
 */
const key = 'a-key-of-the-simulator';

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      offers: { type: 'string', default: '500' },
      faults: { type: 'string', default: '' },
      port: { type: 'string', default: '0' },
    },
  });
  const [name = ''] = positionals;
  const dialect = dialects[name];
  if (dialect === undefined) throw new Error(`which network? One of ${Object.keys(dialects).join(', ')}`);
  const network = await SimulatedNetwork.start(name, {
    key,
    offers: simulatedOffers(wholeNumber('--offers', values.offers), dialect.lacks),
    faults: values.faults.split(',').filter(Boolean).map(faultOf),
    port: wholeNumber('--port', values.port),
  });
  const entry = {
    source: name,
    connector: name,
    base_url: network.url,
    secrets: dialect.secrets(key),
    currency: dialect.currency,
    time_zone: dialect.conversions?.timeZone,
  };
  console.log(`${name} listens at ${network.url}; for sources.json:\n${JSON.stringify({ sources: [entry] }, null, 2)}`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new Error(`${option} takes a whole number, not "${text}"`);
  return Number(text);
}

/** Such as `throttled@3*2`: the third request and one more are throttled. */
function faultOf(text: string): Fault {
  const [, name, request, times] = /^(\w+)(?:@(\d+))?(?:\*(\d+))?$/.exec(text) ?? [];
  const kind = faultKinds.find((each) => each === name);
  if (kind === undefined) throw new Error(`"${text}" is no fault: there are ${faultKinds.join(', ')}`);
  return {
    kind,
    ...(request === undefined ? {} : { request: Number(request) }),
    ...(times === undefined ? {} : { times: Number(times) }),
  };
}
