import type { Gauge, LabelledGauge } from '../../kit/http/gauge.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';

/** Postbacks as the run that built the snapshot found them. */
export function deliveryGauges({ deliveries, asOf }: Pick<PublishedSnapshot, 'deliveries' | 'asOf'>): Gauge[] {
  const {
    pending,
    delivered,
    dead,
    attempts,
    failed_attempts,
    oldest_pending_at: oldest,
    lag_seconds_p95: lag,
  } = deliveries;
  return [
    {
      name: 'offerline_postbacks_pending',
      help: 'Postbacks that wait for an attempt, as of the snapshot.',
      value: pending,
    },
    {
      name: 'offerline_postbacks_delivered',
      help: 'Postbacks that their sites have taken, as of the snapshot.',
      value: delivered,
    },
    {
      name: 'offerline_postbacks_dead',
      help: 'Postbacks that nothing more is tried for until somebody revives them, as of the snapshot.',
      value: dead,
    },
    {
      name: 'offerline_postback_attempts',
      help: 'Attempts at delivering postbacks, as of the snapshot.',
      value: attempts,
    },
    {
      name: 'offerline_postback_attempts_failed',
      help: 'Attempts that failed, as of the snapshot.',
      value: failed_attempts,
    },
    {
      name: 'offerline_postbacks_oldest_pending_seconds',
      help: 'How long the oldest pending postback had waited at the as-of of the snapshot.',
      value: waited(oldest, asOf),
    },
    ...(lag === null
      ? []
      : [
          {
            name: 'offerline_postbacks_lag_seconds_p95',
            help: 'From writing a postback to its delivery, 95th percentile of the last 24 hours of deliveries.',
            value: lag,
          },
        ]),
  ];
}

/** The same by site, under its key: for who runs the service alone. */
export function siteGauges({
  deliveries: { sites },
  asOf,
}: Pick<PublishedSnapshot, 'deliveries' | 'asOf'>): LabelledGauge[] {
  const bySite = (name: string, help: string, valueOf: (site: (typeof sites)[number]) => number): LabelledGauge => ({
    name,
    help: `${help}, as of the snapshot; of the hundred sites that wait for longest.`,
    label: 'site',
    values: sites.map((site) => [site.site_key, valueOf(site)]),
  });
  return [
    bySite(
      'offerline_site_postbacks_waiting',
      'Postbacks of each site that wait for an attempt',
      ({ waiting }) => waiting,
    ),
    bySite('offerline_site_postbacks_failing', 'Those of them whose last attempt failed', ({ failing }) => failing),
    bySite('offerline_site_postbacks_dead', 'Postbacks of each site that were given up', (site) => site.dead),
    bySite(
      'offerline_site_postbacks_oldest_waiting_seconds',
      'How long the oldest waiting postback of each site had waited',
      ({ oldest_waiting_at: since }) => waited(since, asOf),
    ),
  ];
}

function waited(since: string | null, asOf: string): number {
  return since === null ? 0 : Math.max(0, (Date.parse(asOf) - Date.parse(since)) / 1000);
}
