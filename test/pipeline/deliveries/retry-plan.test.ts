import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { nextAttemptAt, plannedAttempts } from '../../../src/postbacks/rules/retry-plan.ts';
import { postbackWebhook } from '../../../src/serve/api/openapi/postback-webhook.ts';

const page = (path: string) =>
  readFileSync(new URL(`../../../src/${path}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

const dayMilliseconds = 86_400_000;

/** Time from a postback to its last attempt, where no answer takes time: `random` and `retryAfter` as the plan has them. */
function days(random: number, retryAfter: number | null): number {
  const waits = Array.from(
    { length: plannedAttempts },
    (_, failed) => nextAttemptAt(0, failed, retryAfter, () => random) ?? 0,
  );
  return waits.reduce((sum, wait) => sum + wait) / dayMilliseconds;
}

const words = ['eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen', 'fourteen'];
const dayWords = ['one day', 'two days', 'three days', 'four days', 'five days', 'six days', 'seven days'];
const attempts = words[plannedAttempts - 8] ?? String(plannedAttempts);

it('the plan is what publishers and operators are promised', () => {
  const promised = `${attempts} times over some ${dayWords[Math.round(days(0.5, null)) - 1]} at most`;
  expect(page('serve/publishers.md')).toContain(promised);
  expect(postbackWebhook.post.responses.default.description).toContain(promised);
  const hours = Array.from({ length: plannedAttempts }, (_, failed) => nextAttemptAt(0, failed, null, () => 0.5) ?? 0);
  const waits = hours.filter((wait) => wait >= 3_600_000).map((wait) => String(wait / 3_600_000));
  const listed = `${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} h`;
  expect(page('postbacks/README.md').toLowerCase()).toContain(
    `**${attempts} attempts,** after 0, 5 s, 5 min, 30 min, ${listed}`,
  );
});

it('attempts are kept for longer than the plan takes at most', () => {
  const longest = Math.floor(days(1, Number.MAX_SAFE_INTEGER));
  expect(() => parseSettings(`{"retention": {"attempts": ${longest}}}`, 'offerline.json')).toThrow(
    'retention.attempts',
  );
});
