import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { followedToReceiver } from './destination-receiver.ts';
import { trackedRow } from './tracked-rows.ts';
import type { TrialReport } from './trial-report.ts';
import type { OfferTrial } from './offer-trial.ts';

/** User agent of a device that the offer is for. */
const userAgents = {
  desktop:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  android:
    'Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
} as const;

/** Follows the link as somebody on a device of the offer would. */
export async function followLink(trial: OfferTrial): Promise<Pick<TrialReport, 'link' | 'destination' | 'click'>> {
  const { data, subject, tracker, userId, report } = trial;
  const { offer_id, devices } = subject.route;
  const begun = trial.now();
  const path = `/redirect/manual-offer/${offer_id}/user/${percentEncoded(userId)}/site/${percentEncoded(subject.site.site_key)}`;
  const link = tracker.address + path;
  const whose = tracker.isOwn ? 'a tracker of this command, since none runs' : 'the tracker that runs';
  report({ step: 'link', done: true, text: `${link}  (${whose})` });
  // Marks the row, for this command and for people who look later.
  const mark = `test-${randomBytes(8).toString('hex')}`;
  const device = devices.includes('desktop') || devices.length === 0 ? 'desktop' : (devices[0] ?? 'desktop');
  const headers = { 'user-agent': userAgents[device] };
  const answer = await request(`${link}?sub1=track-test&sub2=${mark}`, {
    headers: { ...headers, accept: 'application/json' },
  });
  const text = await answer.body.text();
  const location = answer.headers['location'];
  if (answer.statusCode !== 302 || typeof location !== 'string')
    throw new OfferlineError(`The link was answered with ${answer.statusCode}: ${text.trim()}`);
  const tracked = trackedRow(data, 'clicks', { sub2: mark }, begun);
  if (tracked === undefined)
    throw new OfferlineError(
      `The link leads to ${new URL(location).host}, but no click of it is in ${data.landing}: it was refused and sent to a fallback_url, as offerline_tracker_clicks_total of ${tracker.address}/metrics shows, or that is the tracker of another data directory, or this user clicked five seconds ago.`,
    );
  const clickId = String(tracked.row['click_id']);
  const arrived = await followedToReceiver(location, headers);
  if (!arrived.target.includes(clickId))
    throw new OfferlineError(
      `The advertiser at ${arrived.host} does not get the click's id, so it cannot report conversions: its destination_url needs {click_id}, or tracker.sources of offerline.json an append_click_id or macros for ${subject.route.source}.`,
    );
  report({ step: 'destination', done: true, text: `${arrived.host} would be asked for ${arrived.target}` });
  report({ step: 'click', done: true, text: JSON.stringify(tracked.row) });
  return { link, destination: { host: arrived.host, target: arrived.target }, click: tracked.row };
}
