import { expect, it } from 'vitest';
import { guardedReport, reportParameters } from '../../../../src/tracker/conversions/guard/guarded-report.ts';
import type { ConversionRequest } from '../../../../src/tracker/conversions/guard/conversion-request.ts';
import { SentParameters } from '../../../../src/tracker/conversions/guard/sent-parameters.ts';
import { SourceGuard } from '../../../../src/tracker/conversions/guard/source-guard.ts';
import { postbackSchema, readPostbackSecrets } from '../../../../src/sources/config/postback-settings.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const secret = 'a-secret-that-north-keeps';
const fields = { click_id: 'c1', transaction_id: "T'1 & co", event_id: 'Stufe №5', status: 'credit' };

it.each<[string, object]>([
  ['a token', { token: secret }],
  ['two tokens, of which the newer counts', { token: [secret, 'the-one-that-is-to-go'] }],
  ['our own signature', { signature: { scheme: 'offerline', secret, parameter: 'sig' } }],
  ['Standard Webhooks', { signature: { scheme: 'standard_webhooks', secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==' } }],
  ['ayeT', { signature: { scheme: 'ayet', secret } }],
  ['an MD5', { signature: { scheme: 'md5', secret, template: '{cid}.{transaction_id}.{secret}' } }],
  ['a token and a signature', { token: secret, signature: { scheme: 'offerline', secret } }],
])('passes the guard of its source, which has %s; changed it does not', (_name, guard) => {
  const settings = postbackSchema.parse({ ...guard, parameters: { click_id: 'cid' } });
  const parameters = reportParameters(settings, fields);
  const { target, headers } = guardedReport('north', settings, readPostbackSecrets('north', settings), parameters, now);
  const passes = (query: string, sent: Record<string, string>) => {
    const request: ConversionRequest = {
      source: 'north',
      method: 'GET',
      query,
      headers: sent,
      body: Buffer.alloc(0),
      address: '203.0.113.7',
    };
    return new SourceGuard('north', settings).letsPass(request, SentParameters.of(request), now);
  };
  const [path, query = ''] = target.split('?');
  expect(path).toBe('/postback/north');
  expect(new URLSearchParams(query).get('cid')).toBe('c1');
  expect(new URLSearchParams(query).get('transaction_id')).toBe("T'1 & co");
  expect(passes(query, headers)).toBe(true);
  const changed = passes(query.replace('cid=c1', 'cid=c2'), headers);
  expect('signature' in guard ? changed : passes(query, {})).toBe(false);
});
