import { expect, it } from 'vitest';
import { smallNetwork } from '../../support/generated-network.ts';

const size = { clicks: 3000, days: 4, end: new Date('2026-03-04T13:37:00Z'), offers: 60 };
const network = smallNetwork(3, size);
const clicks = new Map(network.clicks.map((click) => [click.click_id, click]));

it('a small network is the same for the same seed only', () => {
  expect(smallNetwork(3, size)).toEqual(network);
  expect(smallNetwork(4, size).clicks.filter(({ click_id }) => clicks.has(click_id))).toEqual([]);
});

it('clicks and conversions are in order of time, each once, and a conversion comes after its click', () => {
  expect(clicks.size).toBe(size.clicks);
  const clicked = network.clicks.map(({ clicked_at }) => clicked_at);
  expect(clicked).toEqual(clicked.toSorted());
  const occurred = network.conversions.map(({ occurred_at }) => occurred_at);
  expect(occurred).toEqual(occurred.toSorted());
  expect(new Set(network.conversions.map(({ conversion_id, kind }) => `${conversion_id} ${kind}`)).size).toBe(
    occurred.length,
  );
  const early = network.conversions.filter((each) => each.occurred_at <= (clicks.get(each.click_id)?.clicked_at ?? ''));
  expect(early).toEqual([]);
});

it('a small network has what figures differ by: each kind of event, milestones, a click that never comes', () => {
  expect(new Set(network.conversions.map(({ kind }) => kind))).toEqual(new Set(['credit', 'reject', 'chargeback']));
  expect(network.conversions.some(({ event_id }) => event_id !== undefined)).toBe(true);
  expect(network.conversions.some(({ click_id }) => !clicks.has(click_id))).toBe(true);
});

it('nobody is sent to a paused offer or from a pending site', () => {
  const paused = network.offers.filter(({ status }) => status === 'paused');
  const pending = network.sites.filter(({ status }) => status === 'pending');
  expect([paused.length, pending.length].every((count) => count > 0)).toBe(true);
  const isOf = (offer: (typeof paused)[number], { offer_id, source, external_id }: (typeof network.clicks)[number]) =>
    offer_id === undefined ? offer.source === source && offer.external_id === external_id : offer.id === offer_id;
  const wrong = network.clicks.filter(
    (click) => paused.some((offer) => isOf(offer, click)) || pending.some((site) => site.site_key === click.site_key),
  );
  expect(wrong).toEqual([]);
});
