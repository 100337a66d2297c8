import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { listenAt } from '../../kit/http/listening-address.ts';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { adgemDialect, adgemLegacyDialect } from './adgem.ts';
import { affiseDialect } from './affise.ts';
import { awinDialect } from './awin.ts';
import { ayetDialect } from './ayet.ts';
import { cakeDialect } from './cake.ts';
import { cjDialect } from './cj.ts';
import type { Dialect, VisitedLink, NetworkAnswer } from './dialect.ts';
import { everflowDialect } from './everflow.ts';
import { impactDialect } from './impact.ts';
import { lootablyDialect } from './lootably.ts';
import { notikDialect } from './notik.ts';
import { offer18Dialect } from './offer18.ts';
import type { SimulatedConversion, SimulatedOffer } from './offers.ts';
import { ogadsDialect } from './ogads.ts';
import { bitlabsDialect, prodegeDialect } from './prodege.ts';
import { toroxDialect } from './torox.ts';
import { trackierDialect } from './trackier.ts';
import { tuneDialect } from './tune.ts';

export const dialects: Readonly<Record<string, Dialect>> = {
  adgem: adgemDialect,
  adgem_legacy: adgemLegacyDialect,
  affise: affiseDialect,
  awin: awinDialect,
  ayet: ayetDialect,
  bitlabs: bitlabsDialect,
  cake: cakeDialect,
  cj: cjDialect,
  everflow: everflowDialect,
  impact: impactDialect,
  lootably: lootablyDialect,
  notik: notikDialect,
  offer18: offer18Dialect,
  ogads: ogadsDialect,
  prodege: prodegeDialect,
  torox: toroxDialect,
  trackier: trackierDialect,
  tune: tuneDialect,
};

/** Fault of a network at a request; the first that fits is played, `times` times. */
export interface Fault {
  kind: (typeof faultKinds)[number];
  /** The request from 1, since the start; any where not given. */
  request?: number;
  times?: number;
}
export const faultKinds = [
  'throttled',
  'unavailable',
  'unauthorised',
  'html',
  'cut_body',
  'cut_gzip',
  'empty_object',
  'redirect',
  'control_character',
  'ignored_page',
  'moving_total',
] as const;

export interface SimulatedNetworkOptions<Offer> {
  key?: string;
  offers?: readonly Offer[];
  faults?: Fault[];
  /** 0 for a free one. */
  port?: number;
}

/** A network on loopback that speaks a dialect. What it holds may be changed between pulls. */
export class SimulatedNetwork<Offer = SimulatedOffer> implements AsyncDisposable {
  offers: readonly Offer[];
  conversions: readonly SimulatedConversion[] = [];
  faults: Fault[];
  /** Links that were followed so far. */
  readonly clicks: VisitedLink[] = [];
  /** Address for postbacks with the network's macros, as its affiliate gave it. */
  postbackUrl: string | undefined;
  /** Paths and queries of all requests so far, with the key's value left out. */
  readonly requests: string[] = [];
  /** Called as a request comes, before it is answered. */
  onRequest: () => void = () => undefined;
  readonly #server: Server;
  readonly #dialect: Dialect<Offer>;
  readonly #key: string;

  private constructor(server: Server, dialect: Dialect<Offer>, key: string, offers: readonly Offer[], faults: Fault[]) {
    this.#server = server;
    this.#dialect = dialect;
    this.#key = key;
    this.offers = offers;
    this.faults = faults;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#answer(request, response, Buffer.concat(chunks).toString()));
    });
  }

  static async start(name: string, options: SimulatedNetworkOptions<SimulatedOffer> = {}): Promise<SimulatedNetwork> {
    const dialect = dialects[name];
    if (dialect === undefined) throw new Error(`no dialect ${name}: there are ${Object.keys(dialects).join(', ')}`);
    return SimulatedNetwork.speaking(dialect, options);
  }

  /** Rejects where the port is in use. */
  static async speaking<Offer>(
    dialect: Dialect<Offer>,
    { key = 'a-key-of-the-simulator', offers = [], faults = [], port = 0 }: SimulatedNetworkOptions<Offer>,
  ): Promise<SimulatedNetwork<Offer>> {
    const server = createServer();
    const network = new SimulatedNetwork(server, dialect, key, offers, faults);
    await listenAt(server, { host: '127.0.0.1', port });
    return network;
  }

  /**
   * Converts a followed link: the conversion is in the list that the network gives, or is reported to the affiliate.
   * Returns the status of the report's answer; undefined for a network that lists conversions.
   */
  async convert(click: VisitedLink, of: Omit<SimulatedConversion, 'clickId' | 'status'>): Promise<number | undefined> {
    const conversion: SimulatedConversion = { ...of, clickId: click.clickId, status: 'approved' };
    this.conversions = [...this.conversions, conversion];
    const macros = this.#dialect.postbackMacros?.(conversion, this.#key);
    if (macros === undefined) return undefined;
    if (this.postbackUrl === undefined) throw new Error('the affiliate gave no address for postbacks');
    const url = Object.entries(macros).reduce(
      (text, [name, value]) => text.replaceAll(/^\w+$/.test(name) ? `{${name}}` : name, percentEncoded(value)),
      this.postbackUrl,
    );
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.status;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const url = new URL(request.url ?? '/', this.url);
    const asked = {
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      form: new URLSearchParams(body),
      json: jsonOf(body),
    };
    const followed = this.#dialect.followed?.(asked);
    if (followed !== undefined) {
      this.clicks.push(followed);
      return send(response, { status: 302, body: '', headers: { location: 'https://advertiser.example/' } });
    }
    this.requests.push(`${url.pathname}${url.search}`.replaceAll(this.#key, '…'));
    this.onRequest();
    const fault = this.#fault();
    const { firstPage } = this.#dialect;
    if (fault === 'ignored_page' && firstPage !== undefined) url.searchParams.set(firstPage.parameter, firstPage.value);
    if (!this.#dialect.isAuthorised(asked, this.#key)) return send(response, this.#dialect.unauthorised);
    const held = fault === 'moving_total' ? this.offers.slice(0, -1) : this.offers;
    const { conversions } = this.#dialect;
    const page = conversions?.isAsked(asked)
      ? conversions.page(asked, this.conversions)
      : (this.#dialect.page?.(asked, held, { key: this.#key, address: this.url }) ?? notFound);
    switch (fault) {
      case 'throttled':
        return send(response, this.#dialect.throttled);
      case 'unavailable':
        return send(response, { status: 503, body: { error: `try later, ${this.#key}` } });
      case 'unauthorised':
        return send(response, this.#dialect.unauthorised);
      case 'html':
        return sendText(response, 200, '<html><title>Just a moment…</title></html>', 'text/html');
      case 'empty_object':
        return send(response, { status: 200, body: {} });
      case 'redirect':
        return send(response, { status: 302, body: '', headers: { location: 'http://elsewhere.example/' } });
      case 'cut_body':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' });
        response.write('{"response": ');
        setImmediate(() => response.destroy());
        return undefined;
      case 'cut_gzip': {
        const packed = gzipSync(JSON.stringify(page.body));
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(packed.subarray(0, Math.floor(packed.length / 2)));
        return undefined;
      }
      case 'control_character':
        return sendText(
          response,
          200,
          JSON.stringify(page.body).replaceAll('Reach', 'Reach\u0001'),
          'application/json',
        );
      case 'ignored_page':
      case 'moving_total':
      case undefined:
        return send(response, page);
    }
  }

  #fault(): Fault['kind'] | undefined {
    const fault = this.faults.find(
      ({ request, times = 1 }) => times > 0 && (request === undefined || request === this.requests.length),
    );
    if (fault !== undefined) fault.times = (fault.times ?? 1) - 1;
    return fault?.kind;
  }
}

const notFound: NetworkAnswer = { status: 404, body: { error: 'not found' } };

function jsonOf(body: string): Record<string, unknown> {
  return body.startsWith('{') ? (JSON.parse(body) as Record<string, unknown>) : {};
}

function send(response: ServerResponse, { status, body, headers = {} }: NetworkAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'content-type': type });
  response.end(text);
}
