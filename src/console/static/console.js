// Conveniences; every page works without them. Texts are set as text, never as markup.

const shown = document.body.dataset.snapshot;
const news = document.getElementById('news');

/** Shows a link to a newer snapshot; the page does not change by itself. */
async function checkForSnapshot() {
  if (document.hidden || news === null) return;
  try {
    const answer = await fetch('/live', { headers: { accept: 'application/json' } });
    if (!answer.ok) return;
    const { snapshot } = await answer.json();
    if (snapshot === null || snapshot === shown || !news.hidden) return;
    const link = document.createElement('a');
    link.href = location.pathname + location.search;
    link.textContent = 'show it';
    news.append(`A new snapshot is published, ${snapshot}: `, link);
    news.hidden = false;
  } catch {
    // The console does not answer; the next call will show the news.
  }
}
const current = new URLSearchParams(location.search).get('snapshot') === null;
if (news !== null && shown !== '' && current) setInterval(() => void checkForSnapshot(), 5000);

// The page of a running job reloads until the job has ended.
const job = document.querySelector('[data-job="running"]');
if (job !== null) setTimeout(() => location.reload(), 2000);

// The answer to a larger file would come after all of it was sent.
addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.maxBytes === undefined) return;
  const max = Number(target.dataset.maxBytes);
  const isTooLarge = [...(target.files ?? [])].some(({ size }) => size > max);
  target.setCustomValidity(isTooLarge ? `The file is larger than ${max / 1e6} MB: use offerline inspect` : '');
  target.reportValidity();
});

// The reader's own time, on hover or focus of a time of UTC.
addEventListener('pointerover', ({ target }) => {
  const time = target instanceof Element ? target.closest('time[datetime]') : null;
  if (!(time instanceof HTMLTimeElement) || time.title !== '') return;
  const at = new Date(time.dateTime);
  if (time.dateTime.includes('T') && !Number.isNaN(at.valueOf()))
    time.title = `${at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' })}, your time`;
});

/** @param {string} text @param {() => void} done */
async function copy(text, done) {
  // Browsers have a clipboard over TLS and on loopback only.
  await navigator.clipboard?.writeText(text);
  done();
}

/** A button behind each long id and each command that copies all of it. */
for (const each of document.querySelectorAll('[data-copy]')) {
  const text = each.textContent;
  // A short one is all to be seen.
  if (text.length <= 12) continue;
  const button = document.createElement('button');
  button.className = 'copy';
  button.type = 'button';
  button.setAttribute('aria-label', `Copy ${text}`);
  const done = () => {
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 2000);
  };
  button.addEventListener('click', () => void copy(text, done));
  (each.closest('a') ?? each).after(button);
}

// Queries of this browser, the newest first. Their addresses are its history where nothing may be stored.
const maxQueries = 50;
const asked = document.querySelector('#history');
if (asked !== null) {
  const query = new URLSearchParams(location.search).get('q')?.trim() ?? '';
  /** @type {string[]} */
  const before = JSON.parse(localStorage.getItem('queries') ?? '[]');
  const queries = [query, ...before.filter((each) => each !== query)]
    .filter((each) => each !== '')
    .slice(0, maxQueries);
  localStorage.setItem('queries', JSON.stringify(queries));
  for (const each of queries) {
    const link = document.createElement('a');
    link.href = `/sql?${new URLSearchParams({ q: each })}`;
    const code = document.createElement('code');
    code.textContent = each;
    link.append(code);
    const item = document.createElement('li');
    item.append(link);
    asked.querySelector('ol')?.append(item);
  }
  asked.toggleAttribute('hidden', queries.length === 0);
}

addEventListener('keydown', (event) => {
  const search = document.querySelector('header input[type=search]');
  const at = /** @type {Element} */ (event.target);
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || at.matches('input, select, textarea'))
    return;
  if (search instanceof HTMLElement && localStorage.getItem('shortcuts') !== 'off') {
    event.preventDefault();
    search.focus();
  }
});

const root = document.documentElement;
const theme = localStorage.getItem('theme');
if (theme !== null) root.dataset.theme = theme;

/** @param {string} text @param {() => void} act */
function addControl(text, act) {
  const button = document.createElement('button');
  button.className = 'quiet';
  button.type = 'button';
  button.textContent = text;
  button.addEventListener('click', act);
  document.querySelector('footer p')?.append(' ', button);
  return button;
}
addControl('Light or dark', () => {
  const isDark =
    root.dataset.theme === 'dark' ||
    (root.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = isDark ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
});
const keys = addControl('', () => {
  localStorage.setItem('shortcuts', localStorage.getItem('shortcuts') === 'off' ? 'on' : 'off');
  nameKeys();
});
function nameKeys() {
  keys.textContent = localStorage.getItem('shortcuts') === 'off' ? 'Switch the / key on' : 'Switch the / key off';
}
nameKeys();
