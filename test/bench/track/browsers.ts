/** What browsers send with a click, by their versions and devices: as many kinds as a small network sees in an hour. */
const systems = [
  'Linux; Android 10; K',
  'Linux; Android 14; SM-S918B',
  'Linux; Android 13; Redmi Note 12',
  'iPhone; CPU iPhone OS 17_5 like Mac OS X',
  'iPhone; CPU iPhone OS 18_6 like Mac OS X',
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
];
const versions = Array.from({ length: 40 }, (_, index) => 100 + index);

/** The lines of headers, but for those that every click has of its own. */
export const browsers: readonly string[] = systems.flatMap((system) =>
  versions.map((version) =>
    [
      'Connection: keep-alive',
      'Upgrade-Insecure-Requests: 1',
      `User-Agent: Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
      'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
      'Sec-Fetch-Site: cross-site',
      'Sec-Fetch-Mode: navigate',
      'Sec-Fetch-Dest: document',
      'Referer: https://publisher.example/',
      'Accept-Encoding: gzip, deflate, br',
      'Accept-Language: en-US,en;q=0.9',
      '',
    ].join('\r\n'),
  ),
);
