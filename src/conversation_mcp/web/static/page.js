// What the pages do beyond links and forms. They work without it.
"use strict";
const root = document.documentElement;
root.classList.add("has-script");
const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const token = one("meta[name=form-token]").content;
const say = (text) => { one("#said").textContent = text; };
const get = (address, headers = {}) => fetch(address, { headers, credentials: "same-origin" });

// Moments, in the reader's time zone and relative to now.
const MINUTE = 60, HOUR = 3600, DAY = 86400;
function told(time) {
  const moment = new Date(time.dateTime);
  if (Number.isNaN(moment.valueOf())) return;
  const seconds = (Date.now() - moment) / 1000;
  const midnight = new Date().setHours(0, 0, 0, 0);
  time.title = moment.toLocaleString();
  if (seconds >= 0 && seconds < MINUTE) time.textContent = "just now";
  else if (seconds >= 0 && seconds < HOUR) time.textContent = `${Math.floor(seconds / MINUTE)} min ago`;
  else if (moment >= midnight) time.textContent = moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  else if (midnight - moment < DAY * 1000) time.textContent = "yesterday";
  else if (midnight - moment < 6 * DAY * 1000) time.textContent = moment.toLocaleDateString([], { weekday: "short" });
  else {
    const year = moment.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
    time.textContent = moment.toLocaleDateString([], { day: "numeric", month: "short", ...year });
  }
}

// Copying.
function offerCopy(place, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
      say("Copied.");
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  place.classList.add("copied");
  place.append(button);
}

function prepare(part) {
  all("time", part).forEach(told);
  for (const block of all("pre", part)) {
    if (block.parentElement.classList.contains("copied")) continue;
    const frame = document.createElement("div");
    block.replaceWith(frame);
    frame.append(block);
    offerCopy(frame, () => block.textContent);
  }
  for (const section of all("section", part)) section.tabIndex = -1;
}

function parsed(text) {
  const made = document.createElement("template");
  made.innerHTML = text; // escaped by the server, and the page's policy lets nothing in it run
  return made.content;
}

// The list: search while typing, more rows at the end, and the same place when coming back.
const results = one("[data-results]");
const form = one("[data-search]");

function summed() {
  const rows = all(".row", results), summary = one("[data-summary]", results);
  if (!summary) return;
  const cost = rows.reduce((sum, row) => sum + Number(row.dataset.cost), 0);
  const count = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "conversation" : "conversations"}`;
  const [whole, cents] = cost.toFixed(cost < 0.001 ? 6 : 4).split(".");
  const dollars = cost ? ` · $${whole}.${cents.replace(/0+$/, "").padEnd(2, "0")}` : "";
  summary.textContent = `${count}${one("[data-more]", results) ? " so far" : ""}${dollars}`;
}

function watchEnd() {
  const more = results && one("[data-more]", results);
  if (!more) return;
  new IntersectionObserver(async (entries, watcher) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    const part = parsed(await (await get(`${more.href}&part=rows`)).text());
    prepare(part);
    one(".rows", results).append(...all(".row", part));
    const next = one("[data-more]", part);
    if (next) more.replaceWith(next); else more.parentElement.remove();
    summed();
    watchEnd();
  }, { rootMargin: "600px" }).observe(more);
}

function address() {
  const given = [...new FormData(form)].filter(([, value]) => value.trim());
  const query = new URLSearchParams(given).toString();
  return query ? `/?${query}` : "/";
}

let wanted = 0;
async function refresh(where, limit = 0) {
  const mine = ++wanted;
  const ask = `${where}${where.includes("?") ? "&" : "?"}part=rows${limit ? `&limit=${limit}` : ""}`;
  const answer = await get(ask);
  const text = await answer.text();
  if (mine !== wanted) return; // a later keystroke has been answered for
  const part = parsed(text);
  prepare(part);
  results.replaceChildren(part);
  watchEnd();
}

if (form) {
  let waiting = 0;
  const typed = () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const where = address();
      history.replaceState(null, "", where);
      await refresh(where);
      say(`${all(".row", results).length} shown`);
    }, 150);
  };
  form.addEventListener("input", typed);
  form.addEventListener("submit", (event) => { event.preventDefault(); typed(); });
  watchEnd();
  addEventListener("pagehide", () => {
    history.replaceState({ rows: all(".row", results).length, top: scrollY }, "");
  });
  const left = history.state;
  if (left && left.rows > all(".row", results).length) {
    refresh(location.pathname + location.search, left.rows).then(() => scrollTo(0, left.top));
  }
}

// A conversation: earlier and later parts, and a running turn that ends in its answer.
const sections = one("#sections");
const conversation = one("[data-conversation]");
const here = conversation ? `/c/${conversation.dataset.conversation}` : "";

function watchEarlier() {
  const link = one("[data-earlier]");
  if (!link) return;
  new IntersectionObserver(async (entries, watcher) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    const first = Number(sections.dataset.first), from = Number(link.dataset.earlier);
    const part = parsed(await (await get(`${here}/part?from=${from}`)).text());
    const shown = all("section", part).slice(0, first - from);
    prepare(part);
    const height = root.scrollHeight;
    sections.prepend(...shown);
    scrollBy(0, root.scrollHeight - height);
    sections.dataset.first = from;
    if (from > 0) {
      link.dataset.earlier = Math.max(0, from - 40);
      watchEarlier();
    } else link.parentElement.remove();
  }, { rootMargin: "400px" }).observe(link);
}

function watchLater() {
  const link = one("[data-later]");
  if (!link) return;
  new IntersectionObserver(async (entries, watcher) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    const from = Number(link.dataset.later);
    const part = parsed(await (await get(`${here}/part?from=${from}`)).text());
    const shown = all("section", part);
    prepare(part);
    sections.append(...shown);
    if (shown.length < 40) location.replace(`${here}?from=${sections.dataset.first}`);
    else { link.dataset.later = from + shown.length; watchLater(); }
  }, { rootMargin: "400px" }).observe(link);
}

async function follow() {
  if (!one("[data-running]", sections)) return;
  const kept = Math.max(0, all("section", sections).length - 1);
  const from = Number(sections.dataset.first) + kept;
  let tag = "";
  for (;;) {
    await new Promise((go) => setTimeout(go, 1000));
    let answer;
    try {
      answer = await get(`${here}/part?from=${from}&live`, tag ? { "if-none-match": tag } : {});
    } catch {
      continue; // the server is away for a moment
    }
    if (answer.status === 304) continue;
    if (!answer.ok) return;
    tag = answer.headers.get("etag") || "";
    const atEnd = innerHeight + scrollY > root.scrollHeight - 300;
    const part = parsed(await answer.text());
    prepare(part);
    all("section", sections).slice(kept).forEach((section) => section.remove());
    one("[data-running]", sections)?.remove();
    sections.append(part);
    if (atEnd) one("#end").scrollIntoView({ block: "end" });
    if (!one("[data-running]", sections)) {
      say("The question was answered, or ended without an answer.");
      return;
    }
  }
}

if (sections) {
  watchLater();
  follow();
  // First the browser goes to where the address leads; only then may what stands before it grow.
  addEventListener("load", () => setTimeout(watchEarlier, 300));
  if (location.hash === "#end") one("#end").scrollIntoView({ block: "end" });
}

// Models, when somebody wants to name one.
const models = one("#models");
if (models) {
  one("input[list=models]").addEventListener("focus", async () => {
    models.replaceChildren(parsed(await (await get("/models")).text()));
  }, { once: true });
}
for (const asks of all("[data-asks]")) {
  asks.addEventListener("submit", () => { one(".go", asks).disabled = true; });
  one("textarea", asks).addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) asks.requestSubmit();
  });
}

// Keys.
function post(path, fields) {
  const body = new URLSearchParams({ form: token, ...fields });
  return fetch(path, { method: "POST", body, credentials: "same-origin", redirect: "manual" });
}

async function archive() {
  if (conversation) {
    one("[data-archive]").requestSubmit();
    return;
  }
  const row = document.activeElement?.closest(".row[data-id]");
  if (!row) return;
  const next = row.nextElementSibling || row.previousElementSibling;
  const path = `/c/${row.dataset.id}/archive`;
  await post(path, {});
  row.remove();
  summed();
  one("a.title", next ?? document.body)?.focus();
  one(".flash")?.remove();
  const flash = document.createElement("p");
  flash.className = "flash";
  flash.append("Archived. ");
  const undo = document.createElement("button");
  undo.textContent = "Undo";
  undo.addEventListener("click", async () => {
    await post(path, { undo: "1" });
    flash.remove();
    await refresh(address());
  });
  flash.append(undo);
  results.before(flash);
  say("Archived.");
}

function move(step) {
  const stops = results ? all(".row a.title", results) : all("section", sections ?? undefined);
  if (!stops.length) return;
  const current = document.activeElement?.closest(results ? ".row" : "section");
  let place = current ? stops.findIndex((stop) => current.contains(stop)) : -1;
  if (place < 0 && !results) {
    place = stops.findIndex((stop) => stop.getBoundingClientRect().bottom > 80) - (step > 0 ? 1 : 0);
  }
  const stop = stops[Math.min(Math.max(place + step, 0), stops.length - 1)];
  stop.focus({ preventScroll: true });
  stop.scrollIntoView({ block: results ? "nearest" : "start" });
}

const keys = one("#keys");
const actions = {
  "/": () => { const search = one("#q"); if (search) { search.focus(); search.select(); } else location.href = "/#q"; },
  j: () => move(1),
  k: () => move(-1),
  e: archive,
  z: () => one(".flash button")?.click(),
  u: () => { location.href = "/"; },
  f: () => one("#question")?.focus(),
  r: () => one("[data-raw]")?.click(),
  "?": () => keys.showModal(),
};
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog[open]");
  if (event.key === "Escape" && typing && typing !== keys) typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = actions[event.key];
  if (action) { event.preventDefault(); action(); }
});
one("[data-keys]").addEventListener("click", () => keys.showModal());
if (location.hash === "#q") one("#q")?.focus();

prepare(document);
for (const path of all("[data-copied]")) offerCopy(path.parentElement, () => path.textContent);
