import { lookup as systemLookup, promises, type LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { callbackify } from 'node:util';
import pLimit, { type LimitFunction } from 'p-limit';

/** Looks up all addresses of a name, as `dns.lookup` does. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Replaceable for tests. Times are in milliseconds. */
export interface LookupOptions {
  /** Name servers, by address and port; those of the system where not given. */
  servers?: string[] | undefined;
  hostsFile?: string;
  system?: Lookup;
  /** Time for the addresses of a name. */
  maxWait?: number;
  /** Time for IPv6 after IPv4 has come, or the other way: some name servers never answer for one of them. */
  otherFamilyWait?: number;
}

/** Milliseconds that a name server has for its first answer, and the number of times that it is asked. */
const asking = { timeout: 3000, tries: 2 };

/**
 * Look-ups by the system that may leave this machine, of all connections together. Each holds a thread, as the files
 * and requests of this process need them: Node gives look-ups half of its threads, four of the launcher's eight.
 */
const localNames = pLimit(2);
const unknownNames = pLimit(1);

/** Answers of name servers after which the system may still know the name: from a search domain, or another source. */
const mayBeKnownToSystem = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

/**
 * Creates a look-up of which each name waits for itself alone. The system's own holds a thread for as long as a name
 * server hangs, so that the names of some hosts would delay all others. Name servers are asked without a thread; the
 * system is asked for names of the hosts file, for those without a dot and under `.local`, and where no name server
 * knows the name.
 */
export function createLookup({
  servers,
  hostsFile = '/etc/hosts',
  system = systemLookup,
  maxWait = 10_000,
  otherFamilyWait = 500,
}: LookupOptions = {}): Lookup {
  const askSystem = (name: string) =>
    new Promise<LookupAddress[]>((resolve, reject) => {
      system(name, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
    });
  const askSystemInTurn = (name: string, turns: LimitFunction) => {
    const since = performance.now();
    return turns(() => {
      // Nobody waits for it any more.
      if (performance.now() - since > maxWait) throw timedOut(name);
      return askSystem(name);
    });
  };

  async function askServers(name: string): Promise<LookupAddress[]> {
    // One for each name: its end cancels what it still asks, and it has the name servers of now.
    const resolver = new promises.Resolver(asking);
    if (servers !== undefined) resolver.setServers(servers);
    let limit = setTimeout(() => resolver.cancel(), maxWait);
    const ask = async (family: 4 | 6): Promise<LookupAddress[]> => {
      const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
      clearTimeout(limit);
      limit = setTimeout(() => resolver.cancel(), otherFamilyWait);
      return addresses.map((address) => ({ address, family }));
    };
    const families = hasPublicIpv6() ? ([6, 4] as const) : ([4, 6] as const);
    const answers = await Promise.allSettled(families.map(ask));
    clearTimeout(limit);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
    throw errors.find((error) => !mayBeKnown(error)) ?? errors[0] ?? timedOut(name);
  }

  async function addressesOf(hostname: string): Promise<LookupAddress[]> {
    const name = hostname.replace(/\.$/, '').toLowerCase();
    if (isInHostsFile(hostsFile, name)) return askSystem(hostname);
    if (!name.includes('.') || name.endsWith('.local')) return askSystemInTurn(hostname, localNames);
    try {
      return await askServers(hostname);
    } catch (error) {
      if (!mayBeKnown(error as Error)) throw error;
      return askSystemInTurn(hostname, unknownNames);
    }
  }

  const lookUp = callbackify(addressesOf);
  return (hostname, _options, callback) =>
    lookUp(hostname, (error, addresses) => callback(error, error === null ? addresses : []));
}

function mayBeKnown({ code }: NodeJS.ErrnoException): boolean {
  return mayBeKnownToSystem.includes(code ?? '');
}

function timedOut(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no answer for ${name} in time`), { code: 'ETIMEOUT' });
}

/** True for a name of a hosts file, which comes before name servers. False where the file cannot be read. */
function isInHostsFile(hostsFile: string, name: string): boolean {
  let text: string;
  try {
    // At once: reading it in a thread would wait for the look-ups that hold them.
    text = readFileSync(hostsFile, 'utf8').toLowerCase();
  } catch {
    return false;
  }
  // Lists that block advertisers have a hundred thousand lines.
  return text.includes(name) && text.split('\n').some((line) => namesOfLine(line).includes(name));
}

function namesOfLine(line: string): string[] {
  return line.replace(/#.*/, '').trim().split(/\s+/).slice(1);
}

/** Where it has, the system puts IPv6 first. */
function hasPublicIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family, internal, address }) => family === 'IPv6' && !internal && !/^f[cde]/i.test(address)),
  );
}
