/** Words for a believable catalog. All brands are made up of these parts. */
export const brandBeginnings = [
  'Nimbus',
  'Fern',
  'Harbor',
  'Quill',
  'Ember',
  'Cobalt',
  'Maple',
  'Orbit',
  'Pebble',
  'Saffron',
  'Tundra',
  'Velvet',
  'Willow',
  'Zephyr',
  'Amber',
  'Birch',
  'Cinder',
  'Drift',
  'Echo',
  'Flint',
  'Gale',
  'Hazel',
  'Indigo',
  'Juniper',
];
export const brandEndings = [
  'way',
  'pay',
  'fit',
  'cart',
  'desk',
  'trip',
  'nest',
  'cast',
  'wise',
  'loop',
  'mart',
  'note',
  'craft',
  'stream',
  'bank',
  'chef',
];
export const gameEndings = [
  'Saga',
  'Kingdoms',
  'Heroes',
  'Solitaire',
  'Empire',
  'Racing',
  'Farm',
  'Legends',
  'Merge',
  'Puzzle',
];

export const appCategories = ['finance', 'fitness', 'shopping', 'travel', 'music', 'productivity', 'food'];
export const webCategories = ['sign-up', 'trial', 'finance', 'shopping', 'education'];

/** Survey subjects in the languages that the panel publishes. */
export const surveySubjects = [
  { en: 'shopping habits', de: 'Einkaufsgewohnheiten', fr: 'habitudes d’achat' },
  { en: 'streaming services', de: 'Streamingdienste', fr: 'services de streaming' },
  { en: 'travel plans', de: 'Reisepläne', fr: 'projets de voyage' },
  { en: 'household energy', de: 'Energie im Haushalt', fr: 'énergie à la maison' },
  { en: 'mobile phones', de: 'Mobiltelefone', fr: 'téléphones mobiles' },
  { en: 'healthy eating', de: 'gesunde Ernährung', fr: 'alimentation saine' },
  { en: 'personal finance', de: 'persönliche Finanzen', fr: 'finances personnelles' },
  { en: 'electric cars', de: 'Elektroautos', fr: 'voitures électriques' },
] as const;

/** Milestones of a game, in the order in which players reach them, with their share of the whole reward. */
export const gameMilestones = [
  { event_id: 'tutorial', description: 'Finish the tutorial', share: 1 },
  { event_id: 'level-10', description: 'Reach level 10', share: 3 },
  { event_id: 'level-25', description: 'Reach level 25', share: 8 },
  { event_id: 'purchase', description: 'Make a first purchase', share: 12 },
  { event_id: 'level-60', description: 'Reach level 60 within 30 days', share: 25 },
] as const;

export const userAgents = {
  android: [
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
    'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  ],
  ios: [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  ],
  desktop: [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  ],
} as const;

/** Countries of visitors, by weight. */
export const visitorCountries = [
  { code: 'US', weight: 30 },
  { code: 'GB', weight: 12 },
  { code: 'DE', weight: 10 },
  { code: 'FR', weight: 7 },
  { code: 'CA', weight: 6 },
  { code: 'BR', weight: 6 },
  { code: 'IN', weight: 6 },
  { code: 'ES', weight: 4 },
  { code: 'IT', weight: 4 },
  { code: 'PL', weight: 3 },
  { code: 'NL', weight: 3 },
  { code: 'AU', weight: 3 },
  { code: 'MX', weight: 2 },
  { code: 'SE', weight: 2 },
  { code: 'JP', weight: 2 },
] as const;
