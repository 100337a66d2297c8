import { z } from 'zod';
import { decimalOf, decimalText } from '../../../kit/text/decimal-text.ts';
import { siteStatement, type StatementDay } from '../../../pipeline/records/site-statement.ts';
import { errorsBySecret, operation } from '../../endpoints/operation.ts';
import { ExactNumber } from '../../http/exact-json.ts';
import { siteKey, siteSecret } from '../../http/parameters.ts';
import { ofRecords, recordsPage } from './answer.ts';
import { statementBody } from './bodies.ts';
import { daySpan, ownerOf, spanOf } from './parameters.ts';

/** `GET /api/v1/statement`: what the site's days brought. */
export const statement = operation({
  path: '/c/api/v1/statement',
  operationId: 'getStatement',
  summary: 'The site’s clicks, conversions, earnings and rewards by UTC day',
  ...ofRecords,
  querystring: z.object({ site_key: siteKey, site_secret: siteSecret, ...daySpan('the statement') }),
  body: statementBody,
  errorKinds: [...errorsBySecret, 'wrong_date'],
  async respond({ site, parameters, snapshot, feed }) {
    const days = await siteStatement(snapshot.connections, ownerOf({ site, feed }), spanOf(parameters));
    return recordsPage(snapshot, {
      days: days.map(({ day, ...sums }) => ({ day, ...shown(sums) })),
      totals: shown(totalOf(days)),
    });
  },
});

type Sums = Omit<StatementDay, 'day'>;

function shown({ earnings, rewards, ...counts }: Sums) {
  return { ...counts, earnings: new ExactNumber(earnings), rewards: new ExactNumber(rewards) };
}

function totalOf(days: readonly StatementDay[]): Sums {
  const count = (name: 'clicks' | 'conversions' | 'reversed' | 'rejected') =>
    days.reduce((sum, day) => sum + day[name], 0);
  const amount = (name: 'earnings' | 'rewards') =>
    decimalText({ units: days.reduce((sum, day) => sum + decimalOf(day[name]).units, 0n), places: 4 });
  return {
    clicks: count('clicks'),
    conversions: count('conversions'),
    reversed: count('reversed'),
    rejected: count('rejected'),
    earnings: amount('earnings'),
    rewards: amount('rewards'),
  };
}
