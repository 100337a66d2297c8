/** Answers in the shapes of networks' own, with invented values. */
interface NetworkAnswers {
  secrets: Record<string, string>;
  currency?: string;
  answer: (asked: URL) => unknown;
}

const page = (asked: URL, parameter: string) => Number(asked.searchParams.get(parameter));
const onFirst = <Item>(asked: URL, parameter: string, items: Item[]) => (page(asked, parameter) === 1 ? items : []);

function adgemOffer(id: string, own: object) {
  return {
    id,
    campaign_id: 1,
    name: 'Castle (Android, INCENT, PK)',
    store_id: 'com.castle.app',
    tracking_type: 'CPE',
    total_payout_usd: 1.25,
    is_multi_reward: false,
    creatives: {
      name: 'Castle &amp; Coins',
      icon_url: 'https://adgem.example/icon.png',
      description: 'Build a castle',
      instructions: ['Install the app', 'Reach level 5'],
      categories: ['app'],
    },
    goals: [{ amount: 5, payout_usd: 1.25 }],
    links: { click_url: 'https://api.adgem.example/v1/click?all=1&cid=100&playerid={playerid}' },
    geo_targeting: { countries: [{ name: 'Pakistan', iso_alpha2: 'PK', iso_alpha3: 'PAK' }], states: [], cities: [] },
    device_targeting: [],
    os_targeting: [],
    ...own,
  };
}

const legacy = (campaign_id: number, OS: unknown) => ({
  Offer: {
    campaign_id,
    name: 'Old',
    payout_usd: '0.50',
    tracking_type: 'CPI',
    tracking_url: `https://api.adgem.example/v1/click?cid=${campaign_id}&playerid={playerid}`,
  },
  Country: { include: [], exclude: [] },
  State: [],
  City: [],
  Connection_Type: [],
  Device: [],
  OS,
});

const cakeOffer = (offer_id: number, offer_status: unknown, own: object = {}) => ({
  offer_id,
  offer_contract_id: offer_id * 3,
  campaign_id: 7781,
  offer_name: 'Quiz',
  description: null,
  offer_status,
  price_format: 'CPA',
  price: 3.5,
  currency_symbol: '$',
  allowed_countries: [{ country_code: 'US', country_name: 'United States' }],
  preview_link: '',
  ...own,
});

const campaign = `<?xml version="1.0" encoding="utf-8"?>
<campaign_response xmlns="http://cakemarketing.com/affiliates/api/2/"><success>true</success><campaign>
<campaign_id>7781</campaign_id><creatives>
<creative_info><creative_type><type_id>3</type_id></creative_type><unique_link>http://t.cake.example/banner</unique_link></creative_info>
<creative_info><creative_type><type_id>1</type_id></creative_type><unique_link>http://t.cake.example/?a=77&amp;c=7781&amp;s2=x</unique_link></creative_info>
</creatives></campaign></campaign_response>`;
const campaignAnswers: Record<string, string> = {
  7781: campaign,
  7799: `<?xml version="1.0" encoding="utf-8"?>
<campaign_response xmlns="http://cakemarketing.com/affiliates/api/2/"><success>false</success>
<message>Campaign was not found</message></campaign_response>`,
};

const payment = (goal: string, revenue: number, currency: string, own: object = {}) => ({
  countries: [],
  title: '',
  goal,
  revenue,
  currency,
  type: 'fixed',
  devices: [],
  os: [],
  ...own,
});
const none = { allow: [], deny: {} };

const affiseOffer = (id: number, payments: object[], own: object = {}) => ({
  id,
  offer_id: `5718dac83b7d9bf8588b${id}`,
  title: 'Bets',
  sources: [{ id: '51f531f53b7d9b1e0382f6d9', title: 'Web sites', allowed: 1 }],
  payments,
  required_approval: true,
  is_cpi: false,
  link: `http://affise.example/click?pid=610&offer_id=${id}`,
  caps: [],
  countries: [],
  targeting: [],
  ...own,
});

const targeting = (own: object) => ({ country: none, os: none, device_type: [], browser: none, ...own });
const cap = (value: number, own: object) => ({
  period: 'day',
  type: 'conversions',
  value,
  goal_type: 'all',
  country_type: 'all',
  ...own,
});

const tuneOffer = (id: string, own: object, contained: object) => ({
  Offer: {
    id,
    name: 'Level &amp; Up',
    description: '',
    preview_url: null,
    payout_type: 'cpa_flat',
    default_payout: '0.00000',
    currency: null,
    status: 'active',
    is_expired: '0',
    conversion_cap: '0',
    ...own,
  },
  Country: [],
  OfferCategory: [],
  Thumbnail: false,
  TrackingLink: { click_url: `https://track.tune.example/aff_c?offer_id=${id}&aff_id=1010` },
  Goal: [],
  OfferOperatingSystem: [],
  ...contained,
});

const rule = (label: string, targeting_type: string) => ({ label, targeting_type, match_type: 'exact' });

const version = (label: string, targeting_type: string) => ({
  os_version_id: 34,
  platform_id: 2,
  label,
  targeting_type,
  match_type: 'minimum',
});

const everflowOffer = (id: number, ruleset: object, base = 2) => ({
  network_offer_id: id,
  name: 'Stream',
  html_description: '',
  tracking_url: 'https://www.trk.example/DF/2TQJZ3/',
  offer_status: 'active',
  currency_id: 'USD',
  relationship: {
    payouts: {
      total: 2,
      entries: [
        { entry_name: 'Base', payout_type: 'cpa', payout_amount: base, is_default: true },
        { entry_name: 'Purchase', payout_type: 'cpa', payout_amount: 0.5, is_default: false },
      ],
    },
    ruleset,
  },
});

export const networkAnswers: Readonly<Record<string, NetworkAnswers>> = {
  adgem: {
    secrets: { refresh_token: 'a-token' },
    answer: (asked) =>
      asked.pathname.endsWith('/token')
        ? { message: 'Authorized', access_token: 'for-an-hour', expires_in: 3600 }
        : {
            status: 'success',
            data: {
              offers: [
                adgemOffer('1234567894561234567', {
                  is_multi_reward: true,
                  goals: [
                    { id: '118093', name: 'Level 1', payout_usd: 0.25 },
                    { id: '118094', name: 'Level 5', payout_usd: 1 },
                  ],
                  geo_targeting: { countries: [{ name: 'Pakistan', iso_alpha2: 'PK' }, { name: 'Germany' }] },
                  device_targeting: ['android_phone', 'android_tablet'],
                  os_targeting: [{ name: 'android', min: '8.0', max: '' }],
                }),
                adgemOffer('2', { device_targeting: ['iphone'], os_targeting: [{ name: 'web' }] }),
                adgemOffer('3', { geo_targeting: { countries: [], states: [{ name: 'Bavaria' }] } }),
                adgemOffer('4', { tracking_type: 'CPC' }),
                adgemOffer('5', { os_targeting: [{ title: 'a shape that nobody knows' }] }),
              ],
              pagination: { current_page: 1, per_page: 100, has_more_pages: false, next_page: null },
            },
            links: {},
          },
  },
  adgem_legacy: {
    secrets: { app_id: '31', token: 'a-token' },
    answer: () => ({
      status: 'success',
      data: {
        7: legacy(7, { android: false, ios: false, web: false }),
        8: legacy(8, { android: false, ios: true, web: false }),
        9: legacy(9, []),
      },
    }),
  },
  cake: {
    secrets: { api_key: 'a-key', affiliate_id: '77' },
    currency: 'USD',
    answer: (asked) =>
      asked.pathname.endsWith('/GetCampaign')
        ? campaignAnswers[asked.searchParams.get('campaign_id') ?? '']
        : {
            success: true,
            row_count: 5,
            data: onFirst(asked, 'start_at_row', [
              cakeOffer(
                11,
                { offer_status_id: 3, offer_status_name: 'Active' },
                { preview_link: 'https://apps.apple.com/us/app/quiz/id1', price_format: 'CPI' },
              ),
              cakeOffer(12, { status_id: 3, status_name: 'Active' }),
              cakeOffer(13, { offer_status_id: 1, offer_status_name: 'Apply To Run' }, { campaign_id: null }),
              cakeOffer(14, { offer_status_id: 3, offer_status_name: 'Active' }, { campaign_id: null }),
              cakeOffer(15, { offer_status_id: 3, offer_status_name: 'Active' }, { campaign_id: 7799 }),
            ]),
          },
  },
  affise: {
    secrets: { api_key: 'a-key' },
    answer: (asked) => {
      const offers = [
        affiseOffer(902, [payment('1', 2, 'USD'), payment('1', 1.9, 'EUR')], {
          description: '<p>For new users &amp; friends</p>',
          is_cpi: true,
          targeting: [{ country: none, os: { allow: [], deny: ['iOS'] }, device_type: [] }],
        }),
        affiseOffer(903, [payment('1', 10, 'USD'), payment('2', 500, 'RUB')]),
        affiseOffer(
          660,
          [
            payment('fd', 32, 'USD', { title: 'First deposit', countries: ['RU'] }),
            payment('fd', 28, 'USD', { title: 'First deposit', countries: ['UA'] }),
            // As text of fixed width.
            { ...payment('reg', 0, 'USD'), revenue: '0.3200000000' },
          ],
          {
            goals: { fd: 'fd', reg: 'reg' },
            targeting: [
              { country: { allow: ['RU'], deny: [] }, os: { allow: ['Android'], deny: [] }, device_type: ['mobile'] },
              { country: { allow: ['UA'], deny: [] }, os: none, device_type: [] },
            ],
          },
        ),
        affiseOffer(904, [payment('1', 1, 'USD')], {
          targeting: [{ country: none, os: { allow: ['iOS'], deny: [] }, device_type: ['desktop'] }],
        }),
        affiseOffer(905, [payment('1', 1, 'USD')], {
          sources: [{ id: '5433001e3b7d9b456bc15573', title: 'Мотивированный трафик', allowed: 0 }],
        }),
        affiseOffer(906, [payment('1', 1, 'USD')], {
          targeting: [targeting({ os: { allow: [{ name: 'Android', comparison: 'GTE', version: '8.0' }], deny: [] } })],
          caps: [
            cap(10, { goal_type: 'exact', goals: ['Register'] }),
            cap(20, { country_type: 'each' }),
            cap(1000, { goals: {}, country: [] }),
          ],
        }),
        affiseOffer(907, [payment('1', 1, 'USD')], {
          targeting: [
            targeting({
              os: { allow: [{ name: 'iOS' }, { name: 'Android', comparison: 'LT', version: '6' }], deny: [] },
              os_deny: true,
              device_type: ['tablet', 'desktop'],
              device_type_deny: 1,
              connection: ['wi-fi'],
            }),
          ],
        }),
      ];
      return {
        status: 1,
        offers: onFirst(asked, 'page', offers),
        pagination: { per_page: 500, total_count: offers.length, page: 1 },
      };
    },
  },
  tune: {
    secrets: { api_key: 'a-key' },
    answer: () => ({
      response: {
        status: 1,
        data: {
          page: '1',
          count: '4',
          pageCount: 1,
          data: {
            907: tuneOffer(
              '907',
              {},
              {
                TrackingLink: {
                  click_url: 'https://track.tune.example/aff_c?offer_id=907&aff_sub=&aff_id=1010&aff_sub=theirs',
                },
                Goal: {
                  11: { id: '11', name: 'Install', default_payout: '0.40000', status: 'active' },
                  12: { id: '12', name: 'Level & 5', default_payout: '3.60000', status: 'active' },
                  13: { id: '13', name: 'Old', default_payout: '9.00000', status: 'deleted' },
                },
                OfferOperatingSystem: {
                  1: { id: '1', attribute: 'Operating System', name: 'Android' },
                  2: { id: '2', attribute: 'Operating System', name: 'iOS' },
                },
              },
            ),
            908: tuneOffer(
              '908',
              { default_payout: '1.50000', payout_type: 'cpa_both', preview_url: 'https://itunes.apple.com/app/id2' },
              {
                Goal: {
                  21: { id: '21', name: 'Deposit', default_payout: '9.00000' },
                  22: { id: '22', name: 'Sale', payout_type: 'cpa_percentage', percent_payout: '25.00' },
                },
              },
            ),
            909: tuneOffer('909', { default_payout: '0.3200000000' }, { TrackingLink: [] }),
            910: tuneOffer('910', { default_payout: '2.00000' }, {}),
          },
        },
        errorMessage: null,
      },
    }),
  },
  everflow: {
    secrets: { api_key: 'a-key' },
    answer: (asked) => {
      const offers = [
        everflowOffer(21, { countries: [], platforms: [rule('Android', 'exclude')] }),
        everflowOffer(22, {
          countries: [{ country_code: 'US', targeting_type: 'exclude' }],
          platforms: [],
          device_types: { total: 2, entries: [rule('Mobile', 'include'), rule('Tablet', 'include')] },
        }),
        everflowOffer(23, { platforms: [rule('Windows', 'include')], device_types: [rule('Mobile', 'include')] }),
        everflowOffer(24, { platforms: [], os_versions: [version('iOS 15', 'include')] }),
        everflowOffer(25, { os_versions: { total: 1, entries: [version('Windows 8.1', 'exclude')] } }),
        everflowOffer(26, { platforms: [rule('Android', 'include')], os_versions: [version('8.0', 'include')] }),
        everflowOffer(27, { os_versions: [{ ...version('', 'include'), label: undefined }] }),
        everflowOffer(29, {
          platforms: [],
          os_versions: ['Mac OS X 10.15', 'iPadOS 15.1', 'iOS 9-10', 'Android KitKat'].map((label) =>
            version(label, 'include'),
          ),
        }),
        everflowOffer(30, {
          platforms: [],
          os_versions: ['Chrome OS 90', 'Windows XP'].map((label) => version(label, 'include')),
        }),
        everflowOffer(31, { platforms: [], os_versions: [version('Windows Phone 8', 'include')] }),
        everflowOffer(32, { platforms: [], os_versions: [version('Web OS 3', 'include')] }),
        everflowOffer(33, {}, 0),
        everflowOffer(28, { mobile_carriers: [rule('Telekom', 'include')], isps: [] }),
      ];
      const paging = { page: 1, page_size: 2000, total_count: offers.length };
      return { offers: onFirst(asked, 'page', offers), paging };
    },
  },
  ayet: {
    secrets: { api_key: 'a-key', ad_slot: '4711' },
    answer: () => ({
      status: 'success',
      num_offers: 1,
      offers: [
        {
          id: 218592,
          name: 'Farm &amp; Field',
          description: '',
          platforms: ['android'],
          devices: ['phone', 'tablet'],
          conversion_type: 'cpi',
          conversion_instructions_short: 'Install and open the app',
          countries: ['DE'],
          state_targeting: ['Bavaria'],
          payout_usd: '0.3200000000',
          daily_cap: 1_000_000,
          tracking_link: 'https://www.ayet.example/s2s/pub/218592/1595?external_identifier={external_identifier}',
          min_android_version: '9',
          tags: { categories: ['games'] },
          tasks: [],
        },
      ],
    }),
  },
  ogads: {
    secrets: { api_key: 'a-key', ip: '203.0.113.9', user_agent: 'Mozilla/5.0 (X11)' },
    answer: () => ({
      success: true,
      error: null,
      offers: [
        {
          offerid: 9164,
          name: 'Quest &amp; Co - CPI',
          name_short: 'Quest &amp; Co',
          adcopy: 'Install',
          payout: '1.10',
          country: 'US, UK',
          device: 'iPhone, iPad',
          link: 'https://unlock.example/go/9164',
        },
        {
          offerid: 9165,
          name_short: 'Other',
          payout: '1.10',
          country: 'US',
          device: { kind: 'a shape that nobody knows' },
          link: 'https://unlock.example/go/9165',
        },
      ],
    }),
  },
};
