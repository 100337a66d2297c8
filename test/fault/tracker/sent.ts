import { Agent, request } from 'undici';
import type { Random } from '../../../src/demo/generate/network/random.ts';

/** Fate of one thing that was sent. */
export type Fate = 'answered' | 'refused' | 'lost';

const maxTries = 20;

export const tokenOfSource = 'a-token-of-the-source-0123456789';

/** Everything that was sent to a tracker, with its answers. */
export class Sent {
  /** Clicks by user, each of whom clicks once: the id that the redirect carried. */
  readonly clicks = new Map<string, { fate: Fate; clickId: string }>();
  /** Conversions by transaction. */
  readonly conversions = new Map<string, { fate: Fate; clickId: string }>();
  /** Wrong answers. */
  readonly wrong: string[] = [];
  #number = 0;

  /** Clicks and reports over one connection until the tracker is gone or `isOver`. */
  async keepSending(address: string, random: Random, isOver: () => boolean): Promise<void> {
    const dispatcher = new Agent({ connections: 1, pipelining: 1 });
    try {
      while (!isOver()) {
        const number = ++this.#number;
        await this.#click(address, dispatcher, `user-${number}`, number);
        if (random.chance(0.5)) await this.#report(address, dispatcher, random);
      }
    } catch {
      // The tracker is gone; what was under way is lost.
    } finally {
      await dispatcher.destroy();
    }
  }

  /**
   * Sends every report again that was not accepted, as senders do. By the tracker's quick clock the disk of a busy
   * machine may stall for a moment, so it may ask for another try.
   */
  async reportTheLost(address: string): Promise<void> {
    const dispatcher = new Agent();
    for (let tries = 0; tries < maxTries; tries++)
      for (const [transaction, { fate, clickId }] of this.conversions)
        if (fate !== 'answered') await this.#send(address, dispatcher, transaction, clickId);
    await dispatcher.destroy();
  }

  async #click(address: string, dispatcher: Agent, user: string, number: number): Promise<void> {
    const about: { fate: Fate; clickId: string } = { fate: 'lost', clickId: '' };
    this.clicks.set(user, about);
    const { statusCode, headers, body } = await request(`${address}/redirect/manual-offer/1/user/${user}/site/one`, {
      dispatcher,
      headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0)', 'x-forwarded-for': addressOf(number) },
    });
    await body.dump();
    about.fate = statusCode === 302 ? 'answered' : 'refused';
    if (statusCode === 302) about.clickId = /c=(\w+)/.exec(String(headers['location']))?.[1] ?? '';
    else if (statusCode !== 503) this.wrong.push(`the click of ${user} was answered ${statusCode}`);
  }

  async #report(address: string, dispatcher: Agent, random: Random): Promise<void> {
    const known = [...this.clicks.values()].slice(-200).filter(({ fate }) => fate === 'answered');
    const click = known[random.below(known.length)];
    if (click !== undefined) await this.#send(address, dispatcher, `t-${++this.#number}`, click.clickId);
  }

  async #send(address: string, dispatcher: Agent, transaction: string, clickId: string): Promise<void> {
    const about: { fate: Fate; clickId: string } = { fate: 'lost', clickId };
    this.conversions.set(transaction, about);
    const query = new URLSearchParams({
      token: tokenOfSource,
      click_id: clickId,
      transaction_id: transaction,
      status: 'approved',
    });
    const { statusCode, body } = await request(`${address}/postback/north?${query.toString()}`, { dispatcher });
    const text = await body.text();
    about.fate = statusCode === 200 ? 'answered' : 'refused';
    if (statusCode !== 200 && statusCode !== 503) this.wrong.push(`${transaction} was answered ${statusCode}: ${text}`);
  }
}

/** Another for each, so that none of them is a flood. */
function addressOf(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}
