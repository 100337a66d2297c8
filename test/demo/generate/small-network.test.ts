import { describe, expect, it } from 'vitest';
import { smallNetwork } from '../../../src/demo/generate/small-network.ts';

const end = new Date('2026-03-04T13:37:00Z');
const network = smallNetwork(3, { clicks: 3000, days: 4, end });

describe('a small network', () => {
  it('is the same for the same seed only', () => {
    expect(smallNetwork(3, { clicks: 3000, days: 4, end })).toEqual(network);
    const other = smallNetwork(4, { clicks: 3000, days: 4, end });
    expect(
      other.clicks
        .map(({ click_id }) => click_id)
        .filter((id) => network.clicks.some(({ click_id }) => click_id === id)),
    ).toEqual([]);
  });

  it('has as many different clicks as asked for, in order of time', () => {
    expect(new Set(network.clicks.map(({ click_id }) => click_id)).size).toBe(3000);
    const times = network.clicks.map(({ clicked_at }) => clicked_at);
    expect(times.toSorted()).toEqual(times);
    expect(
      times.every((time) => /^2026-03-0[1-4]T\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) && time < end.toISOString()),
    ).toBe(true);
  });

  it('has conversions in order of time, each event once, nearly all of known clicks', () => {
    const times = network.conversions.map(({ occurred_at }) => occurred_at);
    expect(times.toSorted()).toEqual(times);
    expect(new Set(network.conversions.map(({ conversion_id, kind }) => `${conversion_id} ${kind}`)).size).toBe(
      times.length,
    );
    const clicks = new Map(network.clicks.map((click) => [click.click_id, click]));
    const orphans = network.conversions.filter(({ click_id }) => !clicks.has(click_id));
    expect(orphans).toHaveLength(1);
    expect(
      network.conversions.filter(
        ({ click_id, occurred_at }) => occurred_at <= (clicks.get(click_id)?.clicked_at ?? ''),
      ),
    ).toEqual([]);
  });

  it('gives milestones to multireward offers and to no others', () => {
    const offers = new Map(
      network.offers.flatMap((offer) => (offer.id === undefined ? [] : [[offer.id, offer] as const])),
    );
    const clicks = new Map(network.clicks.map((click) => [click.click_id, click]));
    const milestones = network.conversions.filter(({ event_id }) => event_id !== undefined);
    expect(milestones.length).toBeGreaterThan(0);
    for (const { click_id, event_id } of network.conversions) {
      const known = offers.get(clicks.get(click_id)?.offer_id ?? 0)?.events?.map((event) => event.event_id);
      expect(event_id === undefined ? known : known?.includes(event_id)).toBe(
        event_id === undefined ? undefined : true,
      );
    }
  });

  it('sends nobody to a paused offer or from a pending site', () => {
    const wide = smallNetwork(3, { clicks: 3000, days: 4, end, offers: 60 });
    const paused = wide.offers.filter(({ status }) => status === 'paused').map(({ external_id }) => external_id);
    expect(paused.length).toBeGreaterThan(0);
    const shown = new Set(
      wide.clicks.map(
        ({ offer_id, external_id }) => external_id ?? wide.offers.find(({ id }) => id === offer_id)?.external_id,
      ),
    );
    expect(paused.filter((externalId) => shown.has(externalId))).toEqual([]);
    const pending = network.sites.filter(({ status }) => status === 'pending').map(({ site_key }) => site_key);
    expect(pending).toHaveLength(1);
    expect(network.clicks.filter(({ site_key }) => pending.includes(site_key))).toEqual([]);
  });

  it('is busiest in the evening, and its offers differ widely in popularity', () => {
    const { clicks } = smallNetwork(3, { clicks: 20_000, days: 2, end: new Date('2026-03-05T00:00:00Z'), offers: 50 });
    const byHour = Map.groupBy(clicks, ({ clicked_at }) => Number(clicked_at.slice(11, 13)));
    expect(byHour.get(19)?.length ?? 0).toBeGreaterThan(3 * (byHour.get(4)?.length ?? 0));
    const popularity = [...Map.groupBy(clicks, ({ offer_id, external_id }) => offer_id ?? external_id).values()]
      .map(({ length }) => length)
      .toSorted((a, b) => b - a);
    expect(popularity[0]).toBeGreaterThan(5 * (popularity.at(-1) ?? 0));
  });
});
