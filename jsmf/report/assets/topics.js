  // ---- list of topics ----------------------------------------------------------

  const list = $("list"), filter = $("filter"), sort = $("sort");
  let visible = [];
  const orders = {
    share: () => shareOrder,
    number: () => range(K).filter(alive),
    similar: () => similar,
    word: () => range(K).filter(alive).sort((a, b) => label(a).localeCompare(label(b)) || a - b),
  };
  const fold = (s) => s.normalize("NFKC").toLowerCase();
  const folded = words.map(fold);
  const mark = () => {
    for (const li of list.children) {
      const on = li.dataset.k === String(topic);
      li.setAttribute("aria-selected", String(on));
      if (!on) continue;
      list.setAttribute("aria-activedescendant", li.id);
      const a = li.offsetTop - list.offsetTop, b = a + li.offsetHeight;
      if (a < list.scrollTop) list.scrollTop = a;
      else if (b > list.scrollTop + list.clientHeight) list.scrollTop = b - list.clientHeight;
    }
  };
  const listTopics = () => {
    const wanted = fold(filter.value).split(/\s+/).filter(Boolean);
    visible = orders[sort.value]();
    if (wanted.length) {
      visible = visible.filter((k) => {
        const t = data.topics[k];
        return wanted.every((q) => String(k) === q || fold(t.name).includes(q) || t.read.some((w) => folded[w].includes(q)) || relevant(k, 1, data.top).some((x) => folded[x.w].includes(q)) || (t.anchor >= 0 && folded[t.anchor].includes(q)));
      });
    }
    const largest = most(range(K).map(shareOf), 1e-300);
    list.replaceChildren(...visible.map((k) => {
      const s = shareOf(k), doubt = planned(k) || doubtOf(k);
      const bar = el("i");
      bar.style.width = bar.dataset.width = clamp(100 * s / largest, 0, 100) + "%";
      return el("li", { role: "option", id: "topic-" + k, class: doubt ? "doubted" : "", "data-k": k, onclick: () => choose(k) },
        el("span", { class: "n" }, String(k)), el("span", { class: "w", dir: "auto" }, label(k), doubt ? el("i", { class: "doubt" }, doubt) : null), el("span", { class: "s" }, percent(s)), el("span", { class: "b" }, bar));
    }));
    list.removeAttribute("aria-activedescendant");
    list.hidden = !visible.length;
    $("list-none").hidden = visible.length > 0;
    mark();
  };
  list.addEventListener("keydown", (e) => {
    const at = visible.indexOf(topic);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: visible.length - 1, PageDown: at + 8, PageUp: at - 8 }[e.key];
    if (to === undefined || !visible.length) return;
    e.preventDefault();
    choose(visible[clamp(to, 0, visible.length - 1)]);
  });
  filter.addEventListener("input", listTopics);
  sort.addEventListener("change", listTopics);
  const step = (d) => {
    const from = visible.length ? visible : orders[sort.value]();
    const at = from.indexOf(topic);
    choose(from[(at + d + from.length) % from.length]);
  };
  $("prev").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  onTopic.push(mark);
  onEdit.push(listTopics);

  // ---- one topic ---------------------------------------------------------------

  const slider = $("lambda"), reading = $("reading"); // the latter only in models with reading weights
  const homes = (w) => {
    const h = data.home[w], at = new Map();
    for (let i = 0; i + 1 < h.length; i += 2) at.set(into(h[i]), (at.get(into(h[i])) || 0) + h[i + 1]);
    const out = [...at].map(([k, p]) => percent(p, 0) + " in " + label(k));
    return out.length ? out.join(", ") : "at home in no topic";
  };
  const tellWord = (w) => {
    const info = $("word-info");
    info.replaceChildren(el("b", { dir: "auto" }, words[w]), ": " + homes(w) + ".");
    info.hidden = false;
    editWord(w);
  };
  // hoverWord shows where a word is: in its row, in the list and on the map of topics; −1: none.
  const onWord = [];
  const hoverWord = (w, row) => {
    document.querySelectorAll(".else").forEach((e) => e.remove());
    const part = new Map();
    if (w >= 0) {
      for (let i = 0, h = data.home[w]; i + 1 < h.length; i += 2) part.set(into(h[i]), (part.get(into(h[i])) || 0) + h[i + 1]);
      row.append(el("span", { class: "else", "aria-hidden": "true", dir: "auto" }, homes(w)));
    }
    for (const li of list.children) {
      const bar = li.querySelector(".b i"), p = part.get(Number(li.dataset.k)) || 0;
      li.classList.toggle("word", w >= 0);
      bar.style.width = w < 0 ? bar.dataset.width : 100 * p + "%";
    }
    for (const f of onWord) f(w < 0 ? null : part);
  };
  const shownWords = () => reading && reading.checked ? asRead(topic) : relevant(topic, lambda, data.top);
  const drawBars = () => {
    const t = data.topics[topic], shown = shownWords();
    const scale = Math.max(...shown.map((x) => x.p), 1e-300);
    $("bars").replaceChildren(...shown.map((x) => {
      const bar = el("i"), tick = el("b");
      bar.style.width = (100 * x.p / scale) + "%";
      const all = data.p[x.w] / scale;
      tick.style.left = clamp(100 * all, 0, 100) + "%";
      tick.hidden = all > 1;
      const isAnchor = x.w === t.anchor || (t.group || []).includes(x.w);
      const out = struck(x.w, topic);
      return el("li", { class: (isAnchor ? "is-anchor" : "") + (out === "a seed" ? " seed" : out ? " struck" : ""), onpointerenter: (e) => hoverWord(x.w, e.currentTarget), onpointerleave: () => hoverWord(-1) },
        el("button", { type: "button", dir: "auto", title: words[x.w], "aria-label": words[x.w] + (isAnchor ? ", the anchor" : "") + (out ? ", " + out : "") + ": where else?", onclick: () => tellWord(x.w) }, (isAnchor ? "◆ " : "") + words[x.w]),
        el("span", { class: "track", "aria-hidden": "true" }, bar, tick),
        el("span", { class: "v" }, small(x.p)), el("span", { class: "v" }, times(x.p / data.p[x.w])));
    }));
  };
  const setLambda = () => {
    lambda = Number(slider.value);
    const idle = !!reading && reading.checked;
    const how = "λ = " + show(lambda, 2) + (lambda === 1 ? ", by probability" : lambda === 0 ? ", by lift" : "");
    $("lambda-out").textContent = idle ? say("not used for {reading words}") : how;
    slider.setAttribute("aria-valuetext", idle ? say("not used: {reading words} are shown") : how);
    slider.classList.toggle("idle", idle);
    drawBars();
  };
  slider.addEventListener("input", () => {
    if (reading) reading.checked = false;
    setLambda();
  });
  if (reading) reading.addEventListener("change", setLambda);
  // doubts says how sure a topic is, by the bootstrap.
  const fact = (what, title, value) => el("div", { title }, el("dt", {}, what), el("dd", { dir: "auto" }, value));
  const doubts = (k) => {
    const u = data.uncertainty && data.topics[k].doubt, out = [];
    if (data.topics[k].verdict) out.push(fact("Verdict", say("What the topic is worth to a reader, and why"), verdictOf(k)));
    if (!u) return out;
    if (isNum(u.stability)) out.push(fact("Comes back", "Fits from the beginning that have this topic", "in " + Math.round(u.stability * data.uncertainty.cold) + " of " + data.uncertainty.cold + " fits"));
    if (u.split > 0) out.push(fact("Falls into two", "Fits from the beginning in which another topic is a part of it", "in " + percent(u.split, 0)));
    const with_ = u.merges.filter(([l]) => into(l) !== k).slice(0, 2);
    if (with_.length) out.push(fact("Is one with", "Fits from the beginning in which both are one topic", with_.map(([l, s]) => label(into(l)) + " in " + percent(s, 0)).join("; ")));
    return out;
  };
  const goTo = (k, note) => el("li", {}, el("button", { type: "button", onclick: () => choose(k), title: "Correlation with " + label(k) + ": " + note }, el("span", { dir: "auto" }, numbered(k)), el("span", { class: "muted" }, note)));
  // partners lists what a topic or group goes with, from pairs of numbers and correlations.
  const partners = (list, row) => range((list || []).length / 2).filter((i) => alive(list[2 * i])).map((i) => row(list[2 * i], signed(list[2 * i + 1])));
  onTopic.push(() => {
    const t = data.topics[topic], k = topic;
    $("detail-eyebrow").textContent = name(k) + " · " + percent(shareOf(k)) + say(" of {a document}, on average") + (t.verdict && !t.background ? " · " + verdictOf(k) : "");
    $("detail-title").textContent = label(k);
    const line = $("detail-anchor");
    line.replaceChildren();
    if (t.anchor >= 0) {
      line.append(t.group ? say("Anchor of several {words} ") : "Anchor ", el("b", { dir: "auto" }, "◆ " + (t.group ? t.group.map((w) => words[w]).join(", ") : words[t.anchor])),
        t.group || !t.rank ? "" : t.rank === 1 ? say(", its most probable {word}") : ", number " + t.rank + say(" of its {words} by probability"));
    }
    const parts = partsOf(k).filter((l) => l !== k);
    if (parts.length) line.append(el("span", {}, " With what was " + parts.map((l) => data.topics[l].name).join(" and ") + "."));
    const i = placeOf.get(k), path = tree ? tree.levels.map((l) => l.first + l.of[k]) : [];
    $("detail-path").replaceChildren(...path.flatMap((g, l) => [l ? " › " : "In ", el("button", { type: "button", class: "link", dir: "auto", onclick: () => choose(g) }, label(g))]));
    const others = i === undefined ? [] : by(range(n).filter((j) => j !== i), (j) => corr(i, j));
    const pairs = (list) => list.flatMap((j) => [M.topics[j], corr(i, j)]);
    const rows = (list) => list && list.length ? partners(list, goTo) : [el("li", { class: "muted small" }, "none")];
    $("with").replaceChildren(...rows(i === undefined ? t.with : pairs(others.filter((j) => corr(i, j) > 0 && !unsure(i, j)).slice(0, 4))));
    $("apart").replaceChildren(...rows(i === undefined ? t.apart : pairs(others.filter((j) => isNum(corr(i, j)) && corr(i, j) < 0 && !unsure(i, j)).slice(-3).reverse())));
    $("facts").replaceChildren(...doubts(k), ...data.columns.map((c) => {
      const x = c.key === "share" && t.doubt;
      if (!x) return fact(c.name, c.what, show(c.values[k]));
      return fact("Share", say("The part of {a document}, on average, and its interval of " + percent(data.uncertainty.level, 0)), percent(x.value) + within(...x.share, percent));
    }));
    if ($("docs")) {
      $("docs").replaceChildren(...(t.docs || []).map((d) => el("li", {}, el("span", { class: "p" }, percent(d.share, 0)), d.at < 0 ? el("span", { class: "t", dir: "auto" }, d.title) : el("button", { type: "button", class: "t link", dir: "auto", onclick: () => readDocument(d.at, true) }, d.title),
        d.snippet ? el("span", { class: "x", dir: "auto" }, d.snippet) : null, el("span", { class: "o", dir: "auto" }, d.note || ""))));
    }
    $("word-info").hidden = true;
    drawBars();
  });

  // What the lists hold, for files.
  exportable(document.querySelector(".picker"), "topics", { rows: () => [["topic", "name", "share", "background", "verdict", "anchor", say("{words}")],
    ...visible.map((k) => [k, label(k), data.topics[k].share, String(!!data.topics[k].background), verdictOf(k), data.topics[k].anchor >= 0 ? words[data.topics[k].anchor] : "", asRead(k).map((x) => words[x.w]).join(" ")])] });
  exportable($("bars").parentElement, say("{words} of the topic"), { rows: () => [["topic", "name", "rank", say("{word}"), say("p({word} | topic)"), say("p({word})"), "lift"],
    ...shownWords().map((x, i) => [topic, label(topic), i + 1, words[x.w], x.p, data.p[x.w], x.p / data.p[x.w]])] });
  if ($("docs")) {
    exportable($("docs").parentElement, say("{documents} of the topic"), { rows: () => [["topic", "name", "title", "share", "note", "snippet"],
      ...(data.topics[topic].docs || []).map((d) => [topic, label(topic), d.title, d.share, d.note || "", d.snippet || ""])] });
  }
