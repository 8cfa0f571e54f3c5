// Everything works without this file; it makes some of it nicer.

// One menu at a time, closed by Escape or a click elsewhere.
const menus = [...document.querySelectorAll('details.menu')];
for (const menu of menus) {
  menu.addEventListener('toggle', () => {
    if (menu.open) for (const other of menus) if (other !== menu) other.open = false;
  });
}
document.addEventListener('click', (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const details of document.querySelectorAll('details.menu, details.disclosure')) {
    if (!details.open) continue;
    details.open = false;
    details.querySelector('summary')?.focus();
  }
});

// On a phone the navigation scrolls: the page that is shown is in sight. Not scrollIntoView, because Chromium 150 moves
// focus from there on, past the link that skips to the content.
const nav = document.querySelector('.nav');
const shown = nav?.querySelector('[aria-current]');
if (nav && shown) {
  const [frame, link] = [nav, shown].map((element) => element.getBoundingClientRect());
  nav.scrollLeft += link.left + link.width / 2 - frame.left - frame.width / 2;
}

// A disclosed form is there to be filled in.
for (const details of document.querySelectorAll('details.disclosure')) {
  details.addEventListener('toggle', () => {
    if (details.open) details.querySelector('input:not([type=hidden]), textarea')?.focus();
  });
}

// A double click asks once.
for (const form of document.querySelectorAll('form[method=post]:not([data-download])')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent !== undefined) event.preventDefault();
    form.dataset.sent = '';
  });
}
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
});

for (const link of document.querySelectorAll('a[data-back]')) {
  link.addEventListener('click', (event) => {
    if (history.length < 2) return;
    event.preventDefault();
    history.back();
  });
}

// A link for a person begins with the address by which this browser reaches the console.
for (const path of document.querySelectorAll('[data-path]')) {
  path.textContent = location.origin + path.textContent.trim();
}

// What a page says was just done is said once: not again on a reload or a shared address.
const address = new URL(location.href);
if (address.searchParams.has('notice')) {
  address.searchParams.delete('notice');
  history.replaceState(null, '', address);
}

// A page that shows work under way is asked for again, except while its reader fills in a form.
const { refreshSeconds } = document.querySelector('main').dataset;
if (refreshSeconds !== undefined) {
  setInterval(() => {
    const isFilledIn =
      document.activeElement?.form || document.querySelector('details.disclosure[open]');
    if (!isFilledIn) location.replace(location.pathname + location.search);
  }, 1000 * refreshSeconds);
}
