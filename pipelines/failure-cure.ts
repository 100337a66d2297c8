import type { SourceEntry } from '../src/sources/config/sources-file.ts';
import { UnauthorizedError } from '../src/sources/http/fetcher.ts';

const cures: readonly (readonly [message: RegExp, cure: string])[] = [
  [/no answer: (?:ENOTFOUND|EAI_AGAIN)/, 'no machine has this name: look at "base_url"'],
  [/no answer: ECONNREFUSED/, 'nothing listens at this address: look at "base_url" and its port'],
  [
    /no answer: .*CERT|no answer: .*SSL/,
    'its certificate is not accepted: is "base_url" the network\u2019s own address?',
  ],
  [
    /no answer|no whole answer/,
    'the address does not answer: look at "base_url", and at what lets requests out of here',
  ],
  [/HTTP 404/, 'nothing is at this address: look at "base_url"'],
  [/HTTP 3\d\d/, 'the address leads elsewhere: "base_url" has to be the one of the API itself'],
  [/HTTP 429|HTTP 5\d\d/, 'the network cannot answer now: try again later'],
  [/a body that is no JSON/, 'the address answers with a page: "base_url" has to be that of the API, not of a website'],
  [/place of the records|is no list/, 'the answer has another form: is it this network, and this version of its API?'],
];

/** Returns what an operator can do about a source that cannot be read; undefined where its error says it itself. */
export function failureCure(error: Error, { connector, secrets }: SourceEntry): string | undefined {
  const isRefused = error instanceof UnauthorizedError || /HTTP 40[0-3]|HTTP 200, "|; it says "/.test(error.message);
  if (!isRefused) return cures.find(([message]) => message.test(error.message))?.[1];
  const names = Object.keys(secrets);
  const which = names.length === 0 ? 'it wants a key' : `look at ${names.join(', ')}`;
  return `${connector ?? 'the network'} refuses the request: ${which}, and whether the account may use the API`;
}
