import { list } from 'isbot';

/** Browsers that persons use, also within an app or on a telephone with keys. */
const browser =
  /\b(?:Mozilla|Opera|Dalvik|AppleWebKit|UCWEB|UCBrowser|MIDP|CLDC|FBA[NV])\b.?\d|\bFBA[NV]\/|\bBrowser\b|^(?:Instagram |iP(?:hone|ad|od)|ELinks|Lynx|Links |w3m|NetSurf|Dillo)/i;

/**
 * Parts that makers and carriers name as they like, such as `XBot_Senior`, `Spider 8` and `Telekom.de`: the model of an
 * Android, Instagram's description of it, and that of the telephone in Facebook's apps.
 */
const namedFreely = [
  /(?<=\bAndroid[ /-]?[\d.]*; )(?:[a-z]{2}(?:[-_][a-z]{2})?; )?[^;()]*/gi,
  /(?<= Build\/)[^;) ]*/g,
  /(?<=\bAndroid \()[^)]*/g,
  /\bFB(?:AN|AV|_IAB)\/[^\]]*/g,
];

/** Patterns of isbot that browsers of persons meet, too. They count only for what is no browser. */
export const metByPersons: ReadonlySet<string> = new Set([
  // The form of a program's name.
  '^[\\w \\.\\-\\(?:\\):%]+(?:/v?\\d+(?:\\.\\d+)?(?:\\.\\d{1,10})*?)?(?:,|$)',
  '^[\\w\\-]+/[\\w]+$',
  '^[^ ]{50,}$',
  '^\\w+/[\\w\\(\\)]*$',
  '^\\d+\\b',
  '^[<\\(;]',
  '\\b\\w+/1\\.0;',
  ';\\s\\w+;$',
  '\\(\\)',
  '\\|',
  // Words of browsers, apps, makers and of what they are made with.
  '(?<! channel/|google/)google(?!(?:wv|app|/google| pixel))',
  '(?:^|[^g])news(?!sapphire)',
  '(?<!lib)http',
  '\\.com\\b',
  '@[a-z][\\w-]+\\.',
  '24x7',
  '^amaya',
  '^netsurf',
  'browsex',
  'catch',
  'chromeframe',
  'discovery',
  'download',
  'firephp',
  'grab',
  'inspect',
  'java(?!;)',
  'offbyone',
  'proxy',
  'radar',
  'server',
  'sogou',
  'tools',
  'torrent',
]);

/** The parts of those patterns that no person's browser matches; and names that isbot lacks. */
const ownPatterns = [
  'https?://(?!bsalsa|www\\.qtweb|www\\.getmiro)',
  '\\+[a-z][\\w-]*\\.[a-z]',
  '(?<!air|bsalsa|getmiro)\\.com\\b(?![\\w.]| mobile browser|, inc)',
  '@[a-z][a-z\\d-]+\\.[a-z]',
  '(?:^|\\D)24x7',
  '[\\w]-google\\b',
  '\\bgoogle(?:-(?!tv)|_partner| favicon| search console| web preview| page speed)',
  '(?:image|email)proxy',
  'amzn-user',
  'assetnote',
  'catchpoint',
  'daumoa',
  'fetcher',
  'grabber',
  'gtmetrix',
  'httpclient',
  'inspector',
  'netcraft',
  'onetrust',
  'outbrain',
  'zgrab',
];

const sayNoPerson = patternOf([...list.filter((pattern) => !metByPersons.has(pattern)), ...ownPatterns]);
const isNoBrowser = patternOf(list);

/**
 * Returns true for an agent that identifies itself as a robot's. A person who is taken for a robot sees a blank page
 * and earns nothing, so a browser is refused only for words that no person's browser has.
 */
export function isRobot(agent: string): boolean {
  if (!browser.test(agent)) return isNoBrowser.test(agent);
  return sayNoPerson.test(namedFreely.reduce((text, part) => text.replaceAll(part, 'x'), agent));
}

function patternOf(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}
