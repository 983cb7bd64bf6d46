"use strict";

const $ = (id) => document.getElementById(id);

// What is shown: the topics and the pairs of one model.
let model = null, topics = [], pairs = [];

// call sends a request and returns the JSON of the answer. What went wrong
// becomes an Error with the words of the service.
async function call(method, path, type, body) {
  const headers = type ? { "Content-Type": type } : {};
  let response;
  try {
    response = await fetch(path, { method, headers, body });
  } catch {
    throw new Error("The service does not answer.");
  }
  const answer = await response.json();
  if (!response.ok) {
    const where = [answer.line && "line " + answer.line, answer.field].filter(Boolean).join(", ");
    throw new Error((where ? where + ": " : "") + answer.detail);
  }
  return answer;
}

// say writes a message; text from the service stays text.
function say(id, text, bad) {
  $(id).textContent = text;
  $(id).classList.toggle("bad", Boolean(bad));
}

// element makes an element with text or children, which stay text too.
function element(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

function button(className, action, ...children) {
  const b = element("button", className, ...children);
  b.type = "button";
  b.addEventListener("click", action);
  return b;
}

const percent = (x) => (x === null ? "?" : (100 * x).toFixed(1) + " %");
const count = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");
const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);
const signedPercent = (x) => (x < 0 ? "−" : "+") + (100 * Math.abs(x)).toFixed(1);
const label = (k) => topics[k].name;

// named is a topic's name and those of its words that are not in it.
function named(t) {
  const own = t.name.split(" · ");
  return element("span", "words", element("strong", "", t.name), " " + t.words.filter((w) => !own.includes(w)).join(" "));
}

// bar is an item of a list, with a part of it filled.
function bar(part, content) {
  const item = element("li"), fill = element("div", "fill");
  fill.style.width = Math.max(0, Math.min(100, 100 * part)) + "%";
  item.append(fill, content);
  return item;
}

function topicBar(t, most, extra) {
  const line = button("line", () => show(t.topic, true), element("b", "", percent(t.share)),
    element("span", "number", String(t.topic)), named(t));
  if (extra) line.append(element("span", "extra", extra));
  line.dataset.topic = t.topic;
  return bar(t.share / most, line);
}

const orders = {
  share: (a, b) => b.share - a.share || a.topic - b.topic,
  topic: (a, b) => a.topic - b.topic,
  drift: (a, b) => (b.drift ?? -1) - (a.drift ?? -1) || a.topic - b.topic,
};

// quality is what there is to say against a topic.
const quality = (t) => (t.verdict ? (t.verdict.quality === "sound" ? "" : t.verdict.quality) : t.background ? "background" : "");

function drawTopics() {
  const most = Math.max(...topics.map((t) => t.share), 1e-9);
  $("topics").replaceChildren(...topics.toSorted(orders[$("order").value])
    .map((t) => topicBar({ topic: t.topic, name: t.name, share: t.share, words: t.words.map((w) => w.word) }, most,
      [quality(t), t.drift === undefined ? "" : "moved " + t.drift.toFixed(2)].filter(Boolean).join(", "))));
}

// pair is an item for two topics, of which those in others can be chosen.
function pair(p, others) {
  const item = element("li", p.correlation < 0 ? "apart" : "", element("b", "", p.correlation === null ? "?" : signed(p.correlation)));
  for (const k of others) {
    item.append(button("topic", () => show(k, true), element("span", "number", String(k)), label(k)));
  }
  return item;
}

function drawPairs() {
  const all = $("more").getAttribute("aria-expanded") === "true", n = 5;
  const few = all || pairs.length <= 2 * n ? pairs : [...pairs.slice(0, n), ...pairs.slice(-n)];
  $("pairs").replaceChildren(...few.map((p) => pair(p, p.topics)));
  $("more").hidden = pairs.length <= 2 * n;
  $("more").textContent = all ? "Show the strongest only" : "Show all " + pairs.length + " pairs";
}

// show fetches and shows one topic.
async function show(k, move) {
  try {
    const t = await call("GET", "v1/topics/" + k);
    if (t.model.checksum !== model.checksum) return refresh(); // a new model serves: all of the page goes over to it
    $("detail").hidden = false;
    $("detail").dataset.topic = k;
    $("detail-title").textContent = "Topic " + k;
    const facts = [t.name, percent(t.share) + " of a document, on average"];
    if (t.background) facts.push("background: words that most documents share");
    else if (t.verdict) facts.push(t.verdict.why);
    if (t.anchor) facts.push("found by the word “" + t.anchor + "”");
    if (t.drift !== undefined) facts.push("moved " + t.drift.toFixed(2) + " from the model before (0 not at all, 1 to other words)");
    $("facts").textContent = facts.join("; ") + ".";
    const words = t.words.slice(0, 15), most = Math.max(...words.map((w) => w.prob), 1e-9);
    $("words").replaceChildren(...words.map((w) => bar(w.prob / most, element("div", "line", element("b", "", percent(w.prob)), element("span", "words", w.word)))));
    const known = t.pairs.filter((p) => p.correlation !== null);
    $("with").replaceChildren(...(known.length > 6 ? [...known.slice(0, 3), ...known.slice(-3)] : known)
      .map((p) => pair(p, p.topics.filter((other) => other !== k))));
    drawDocuments("of", "v1/topics/" + k + "/documents?n=5");
    drawEffects(k);
    for (const line of $("topics").querySelectorAll(".line")) {
      if (Number(line.dataset.topic) === k) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    }
    if (move) $("detail").scrollIntoView({ block: "nearest" });
  } catch (err) {
    say("model", err.message, true);
  }
}

// drawDocuments lists the documents that a request finds, unless another one follows it. Each leads to
// those that are like it. The list is busy until it is drawn.
async function drawDocuments(list, path, body) {
  const to = $(list), asked = {};
  to.asked = asked;
  to.setAttribute("aria-busy", "true");
  let items = [], said = "None is found.", failed = false;
  try {
    const a = await call(body ? "POST" : "GET", path, body && "application/json", body);
    items = a.documents.map((d) => element("li", "", element("b", "", percent(d.score)),
      button("topic", () => alike(d.id), d.id), element("span", "words", Object.entries(d.values ?? {}).map(([name, v]) => name + " " + v).join(", "))));
    if (items.length) said = "";
  } catch (err) {
    said = err.message;
    failed = true;
  }
  if (to.asked !== asked) return;
  to.replaceChildren(...items);
  say(list === "of" ? "of-said" : "alike-said", said, failed);
  to.removeAttribute("aria-busy");
}

// drawEffects lists the values of documents with which a topic has certainly more or less
// than its average.
async function drawEffects(k) {
  try {
    const { columns } = await call("GET", "v1/effects"), found = [], curves = [];
    let unknown = 0;
    for (const c of columns.filter((c) => c.state === "done").slice(0, 8)) {
      const { rows } = await call("GET", "v1/effects/" + encodeURIComponent(c.name) + "?topic=" + k);
      for (const r of rows) if (r.measure === "difference" && r.low !== null && r.low * r.high > 0) found.push({ ...r, column: c.name });
      const over = rows.filter((r) => r.measure === "prediction");
      if (c.kind === "time" && over.filter((r) => r.value !== null).length > 2) curves.push(curve(c.name, over));
      unknown += rows.filter((r) => r.measure === "difference" && r.withheld).length;
    }
    if ($("detail").dataset.topic !== String(k)) return; // another one is shown
    $("depending").hidden = !columns.length;
    $("over-time").replaceChildren(...curves);
    found.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    $("depends").replaceChildren(...found.slice(0, 6).map((r) => element("li", r.value < 0 ? "apart" : "", element("b", "", signedPercent(r.value)),
      element("span", "words", r.column + " " + r.point), element("span", "words hint", signedPercent(r.low) + " to " + signedPercent(r.high)))));
    say("depends-said", columns.some((c) => c.state === "waiting") ? "It is still being measured." : found.length ? "Percentage points above or below its average over all documents, as they are, with 95 % intervals." : unknown ? "Too little is known of this topic to say." : "Nothing that is known of documents says so for certain.");
  } catch (err) {
    say("depends-said", err.message, true);
  }
}

// curve draws the share of a topic by time as a line with its intervals, from 0 up. It passes over times
// with too few documents.
function curve(name, rows) {
  const top = Math.max(...rows.map((r) => r.high ?? r.value ?? 0), 1e-9);
  const drawn = (kind, attributes, ...parts) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...parts);
    return e;
  };
  const points = (field) => rows.flatMap((r, i) => r[field] === null ? [] : [(100 * i / (rows.length - 1)).toFixed(2) + "," + (40 - 40 * r[field] / top).toFixed(2)]);
  const high = points("high"), band = [...high, ...points("low").reverse()].join(" ");
  const said = name + ", " + rows[0].point + " to " + rows.at(-1).point + ": from 0 to " + percent(top) + (high.length ? ", with 95 % intervals" : "");
  return element("figure", "curve", drawn("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": said },
    drawn("polygon", { points: band }), drawn("polyline", { points: points("value").join(" "), "vector-effect": "non-scaling-stroke" })),
  element("figcaption", "hint", said + "."));
}

// alike shows the documents that are like one that is kept.
function alike(id) {
  $("alike").hidden = false;
  $("alike-title").textContent = "Documents like “" + id + "”";
  $("alike").scrollIntoView({ block: "nearest" });
  return drawDocuments("like", "v1/documents/" + encodeURIComponent(id) + "/similar?n=5");
}

// explain shows which words of a text its topics come from.
async function explain(body) {
  const a = await call("POST", "v1/explain", "application/json", body);
  say("covered", a.words.length ? percent(a.covered) + " of its words are likely for a document of these topics." : "");
  const adds = (w) => w.topics[0]?.share ?? 0;
  $("why").replaceChildren(...a.words.toSorted((v, w) => adds(w) - adds(v)).slice(0, 10).map((w) => {
    const k = w.topics[0].topic;
    return element("li", w.unlikely ? "apart" : "", element("b", "", percent(adds(w))), element("span", "words", w.word + (w.unlikely ? ", unlikely here" : "")),
      button("topic", () => show(k, true), element("span", "number", String(k)), label(k)));
  }));
  $("explained").hidden = !a.words.length;
}

// refresh shows what serves now. Answers of two models are not mixed: where the
// model changes meanwhile it begins again.
async function refresh() {
  try {
    for (;;) {
      const { model: now } = await call("GET", "healthz");
      $("welcome").hidden = Boolean(now);
      $("compose").hidden = $("shown").hidden = $("report").hidden = !now;
      if (!now) {
        say("model", "No model yet.");
        break;
      }
      if (model && model.checksum === now.checksum) break;
      const [list, together] = await Promise.all([call("GET", "v1/topics"), call("GET", "v1/correlations")]);
      if (list.model.checksum !== together.model.checksum) continue;
      model = list.model;
      topics = list.topics;
      pairs = together.pairs;
      say("model", "Model " + model.version + " · " + count(topics.length, "topic") + " · " + model.checksum.slice(0, 12));
      const drifts = topics.some((t) => t.drift !== undefined);
      $("order").querySelector("[value=drift]").disabled = !drifts;
      if (!drifts && $("order").value === "drift") $("order").value = "share";
      drawTopics();
      drawPairs();
      $("top").replaceChildren(); // of the model before
      $("explained").hidden = $("alike").hidden = true;
      say("said", "");
      const k = Number($("detail").dataset.topic ?? NaN);
      if (k < topics.length) show(k);
      else $("detail").hidden = true;
      break;
    }
    const d = await call("GET", "v1/documents");
    const rules = [];
    if (d.window) rules.push("the last " + count(d.window, "document") + " stay");
    if (d.max_age_seconds) rules.push("those of " + span(d.max_age_seconds) + " stay");
    if (d.half_life_seconds) rules.push("after " + span(d.half_life_seconds) + " one counts half");
    if (d.evicted) rules.push(d.evicted.toLocaleString("en") + " have gone so far");
    say("kept", !d.documents ? "None is kept yet." : count(d.documents, "document") + " of " + count(d.words, "different word") + " " + (d.documents === 1 ? "is" : "are") + " kept" + (rules.length ? ": " + rules.join(", ") : "") + "."
      + (d.columns ? " They can have values in " + d.columns.map((c) => c.name + " (" + c.kind + ")").join(", ") + "." : ""));
  } catch (err) {
    say("model", err.message, true);
  }
}

// span is a time in words.
function span(seconds) {
  for (const [unit, n] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= 2 * n || seconds === n) return count(Number((seconds / n).toFixed(1)), unit);
  }
  return count(seconds, "second");
}

$("order").addEventListener("change", drawTopics);
$("more").addEventListener("click", () => {
  $("more").setAttribute("aria-expanded", String($("more").getAttribute("aria-expanded") !== "true"));
  drawPairs();
});

$("infer").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const body = JSON.stringify({ text: $("text").value });
    const a = await call("POST", "v1/infer", "application/json", body);
    if (a.model.checksum !== model.checksum) await refresh();
    const none = a.status === "no tokens";
    const most = Math.max(...a.top.map((t) => t.share), 1e-9);
    $("top").replaceChildren(...(none ? [] : a.top.map((t) => topicBar(t, most))));
    say("said", none ? "The model knows no word of it." : count(a.tokens, "known word") + ", " + a.unknown + " unknown. Model " + a.model.version + ".");
    $("explained").hidden = $("alike").hidden = true;
    if (none) return;
    $("alike").hidden = false;
    $("alike-title").textContent = "Documents like this text";
    await Promise.all([explain(body), drawDocuments("like", "v1/similar?n=5", body)]);
  } catch (err) {
    say("said", err.message, true);
  }
});

// Ctrl+Enter sends what is written.
for (const id of ["text", "lines"]) {
  $(id).addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $(id).form.requestSubmit();
  });
}

// idOf makes an id of a text, so that the same text is stored once.
async function idOf(text) {
  if (!crypto.subtle) throw new Error("The browser makes ids over https or on this machine only.");
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum).slice(0, 12), (b) => b.toString(16).padStart(2, "0")).join("");
}

// documents makes lines of JSON of lines of text. Those that are JSON objects stay.
async function documents(text) {
  const lines = text.split("\n").map((l) => l.trim()).filter(Boolean);
  if (lines[0]?.startsWith("{")) return lines.map((json) => ({ json }));
  return Promise.all(lines.map(async (text) => {
    const id = await idOf(text);
    return { json: JSON.stringify({ id, text }), id, text };
  }));
}

// recent lists documents of this page, to forget them again.
function recent(docs) {
  const old = [...$("recent").children].map((item) => [item.dataset.id, item]);
  const items = new Map(docs.map(({ id, text }) => {
    const item = element("li", "", element("span", "words", text), button("quiet", async () => {
      if (await forget(id)) item.remove();
    }, "Forget"));
    item.dataset.id = id;
    item.lastChild.setAttribute("aria-label", "Forget " + text.slice(0, 40));
    return [id, item];
  }));
  for (const [id, item] of old) if (!items.has(id)) items.set(id, item);
  $("recent").replaceChildren(...[...items.values()].slice(0, 5));
  $("recent").hidden = !items.size;
}

async function forget(id) {
  try {
    await call("DELETE", "v1/documents/" + encodeURIComponent(id));
    say("forgot", "The next model learns without “" + id + "”.");
    refresh();
    return true;
  } catch (err) {
    say("forgot", err.message, true);
    return false;
  }
}

$("forget").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await forget($("id").value)) $("id").value = "";
});

$("upload").addEventListener("submit", async (event) => {
  event.preventDefault();
  const submit = $("upload").querySelector("button");
  submit.disabled = true;
  try {
    const file = $("file").files[0];
    const docs = [...await documents($("lines").value), ...(file ? await documents(await file.text()) : [])];
    if (!docs.length) throw new Error("There is nothing to store.");
    let stored = 0, there = 0;
    for (let first = 0; first < docs.length;) { // in parts, as the service has limits
      let last = first;
      for (let size = 0; last < docs.length && last - first < 1000 && (last === first || size < 4e6); last++) size += docs[last].json.length;
      const a = await call("POST", "v1/documents", "application/x-ndjson", docs.slice(first, last).map((d) => d.json).join("\n"));
      first = last;
      stored += a.stored;
      there += a.already_there?.length ?? 0;
      say("stored", first < docs.length ? first + " of " + docs.length + " …" : count(stored, "document") + " stored" + (there ? ", " + there + " there already" : "") + ".");
    }
    recent(docs.filter((d) => d.id).slice(0, 5));
    $("upload").reset();
    refresh();
  } catch (err) {
    say("stored", err.message, true);
  }
  submit.disabled = false;
});

const stages = {
  corpus: "preparing the documents", cooc: "counting which words come together", rectify: "taking the noise out of the counts",
  anchors: "finding a word of its own for each topic", recover: "finding the topics", topics: "finding the topics", refine: "refining the topics",
};

// watch shows a refit until it ends, whoever has asked for it.
async function watch(r) {
  $("refit").disabled = true;
  $("progress").hidden = false;
  while (r.state === "running") {
    say("learnt", (stages[r.stage] || r.stage || "beginning") + (r.total ? ", " + r.done + " of " + r.total : "") + " …");
    if (r.total) {
      $("progress").max = r.total;
      $("progress").value = r.done;
    } else $("progress").removeAttribute("value");
    await new Promise((wake) => setTimeout(wake, 250));
    r = await call("GET", "v1/refit");
  }
  return r;
}

async function refit(begin) {
  try {
    const r = await watch(await begin());
    if (r.state === "failed") throw new Error("It failed, and the model is as before: " + r.error);
    if (r.state !== "done") return say("learnt", "It was " + r.state + ".", r.state === "cancelled");
    const drift = (r.drift ?? []).filter((x) => x !== null), mean = drift.reduce((a, b) => a + b, 0) / drift.length;
    say("learnt", "Model " + r.model.version + ", of " + count(r.documents, "document") + ", serves."
      + (drift.length ? " Its topics moved by " + mean.toFixed(2) + " on average, " + Math.max(...drift).toFixed(2) + " at most." : ""));
    await refresh();
  } catch (err) {
    say("learnt", err.message, true);
  } finally {
    $("progress").hidden = true;
    $("refit").disabled = false;
  }
}

$("refit").addEventListener("click", () => refit(async () => {
  const r = await call("GET", "v1/refit"); // one that somebody else has begun is as good
  return r.state === "running" ? r : call("POST", "v1/refit");
}));

refresh().then(async () => {
  const r = await call("GET", "v1/refit");
  if (r.state === "running") refit(() => r);
}).catch((err) => say("learnt", err.message, true)).finally(() => { document.documentElement.dataset.ready = "true"; });
