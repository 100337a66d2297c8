// What makes pages more convenient; each of them works without. Texts are set as text, never as markup.

const shown = document.body.dataset.snapshot;
const news = document.getElementById('news');

/** Tells of a newer snapshot; nothing on the page moves by itself. */
async function look() {
  if (document.hidden || news === null) return;
  try {
    const answer = await fetch('/live', { headers: { accept: 'application/json' } });
    if (!answer.ok) return;
    const { snapshot } = await answer.json();
    if (snapshot === null || snapshot === shown || !news.hidden) return;
    const link = document.createElement('a');
    link.href = location.pathname + location.search;
    link.textContent = 'show it';
    news.append(`Snapshot ${snapshot} is there: `, link);
    news.hidden = false;
  } catch {
    // The console is away for a moment; the next look tells.
  }
}
const current = new URLSearchParams(location.search).get('snapshot') === null;
if (news !== null && shown !== '' && current) setInterval(() => void look(), 5000);

// A job that is under way is shown anew until it has come to its end.
const job = document.querySelector('[data-job="running"]');
if (job !== null) setTimeout(() => location.reload(), 2000);

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
