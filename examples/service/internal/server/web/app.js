"use strict";

const $ = (id) => document.getElementById(id);

// call sends a request and returns the JSON of the answer. What went wrong
// becomes an Error with the words of the service.
async function call(method, path, type, body) {
  const headers = type ? { "Content-Type": type } : {};
  const response = await fetch(path, { method, headers, body });
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

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

const percent = (x) => (x === null ? "?" : (100 * x).toFixed(1) + "%");
const name = (m) => "Model " + m.version + " · " + m.checksum.slice(0, 12);

// bars fills a list with topics and their shares.
function bars(list, topics) {
  const most = Math.max(...topics.map((t) => t.share), 1e-9);
  list.replaceChildren(...topics.map((t) => {
    const item = element("li");
    const fill = element("div", "fill");
    fill.style.width = (100 * t.share) / most + "%";
    const line = element("button", "line");
    line.type = "button";
    line.append(element("b", "", percent(t.share)), element("span", "", t.words.join(" ")));
    line.title = "Topic " + t.topic;
    line.addEventListener("click", () => detail(t.topic));
    item.append(fill, line);
    return item;
  }));
}

async function detail(k) {
  const box = $("detail");
  box.hidden = false;
  try {
    const t = await call("GET", "/v1/topics/" + k);
    const with_ = t.pairs.filter((p) => p.correlation !== null).slice(0, 3)
      .map((p) => (p.topics[0] === k ? p.topics[1] : p.topics[0]) + " (" + p.correlation.toFixed(2) + ")");
    const facts = ["Share " + percent(t.share)];
    if (t.anchor) facts.push("anchor word " + t.anchor);
    if (t.drift !== undefined) facts.push("drift from the model before " + t.drift.toFixed(2));
    if (with_.length) facts.push("goes with topics " + with_.join(", "));
    box.replaceChildren(
      element("p", "", "Topic " + k + ". " + facts.join("; ") + "."),
      element("p", "", t.words.map((w) => w.word).join(" ")));
  } catch (err) {
    box.replaceChildren(element("p", "bad", err.message));
  }
}

async function refresh() {
  try {
    const d = await call("GET", "/v1/documents");
    say("kept", d.documents + " documents of " + d.words + " different words are kept.");
    const t = await call("GET", "/v1/topics");
    say("model", name(t.model));
    bars($("topics"), t.topics.map((x) => ({ topic: x.topic, share: x.share, words: x.words.map((w) => w.word) }))
      .sort((a, b) => b.share - a.share));
  } catch (err) {
    say("model", err.message, true);
  }
}

$("infer").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const a = await call("POST", "/v1/infer", "application/json", JSON.stringify({ text: $("text").value }));
    bars($("top"), a.status === "no tokens" ? [] : a.top);
    say("said", a.status === "no tokens" ? "No word of it is known." : a.tokens + " known words, " + a.unknown + " others. " + name(a.model));
  } catch (err) {
    say("said", err.message, true);
  }
});

// idOf makes an id of a text, so that the same text is stored once.
async function idOf(text) {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum).slice(0, 12), (b) => b.toString(16).padStart(2, "0")).join("");
}

$("upload").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const lines = $("lines").value.split("\n").map((l) => l.trim()).filter(Boolean);
    const body = (await Promise.all(lines.map(async (text) => JSON.stringify({ id: await idOf(text), text })))).join("\n");
    const a = await call("POST", "/v1/documents", "application/x-ndjson", body);
    say("learnt", a.stored + " stored" + (a.already_there ? ", " + a.already_there.length + " were there already" : "") + ".");
    $("lines").value = "";
    refresh();
  } catch (err) {
    say("learnt", err.message, true);
  }
});

$("refit").addEventListener("click", async () => {
  $("refit").disabled = true;
  try {
    let r = await call("POST", "/v1/refit");
    while (r.state === "running") {
      say("learnt", "Fitting: " + (r.stage || "begun") + (r.total ? " " + r.done + " of " + r.total : ""));
      await new Promise((wake) => setTimeout(wake, 300));
      r = await call("GET", "/v1/refit");
    }
    if (r.state !== "done") throw new Error("Refit " + r.state + (r.error ? ": " + r.error : ""));
    say("learnt", name(r.model) + " of " + r.documents + " documents serves.");
    refresh();
  } catch (err) {
    say("learnt", err.message, true);
  }
  $("refit").disabled = false;
});

refresh();
