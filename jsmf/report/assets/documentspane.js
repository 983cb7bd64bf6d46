  // ---- documents that are chosen, and the one that is read ----------------------

  if (docs) {
    const { count, is, own, state, wanted, fields } = docs, known = fields.slice(1); // but groups
    const find = $("documents-find"), like = $("documents-like"), clear = $("documents-clear"), list = $("documents-list"), more = $("documents-more");
    const chosenBox = $("documents-chosen"), pane = $("documents-read");
    const step = matchMedia("(max-width: 46rem)").matches ? 10 : 50;
    let shown = step, ranked = [], reading = -1, back = null;
    let marks = -1; // the topic whose words are marked: the chosen one, or else the document's own

    // ---- list ------------------------------------------------------------------

    const hue = (i) => {
      const dot = el("i", { class: "hue", "aria-hidden": "true" });
      dot.style.background = docs.hueColour(docs.inHue[i]);
      return dot;
    };
    const item = (i, note) => el("li", {}, el("button", { type: "button", "data-doc": i, onclick: () => readDocument(i, true) }, hue(i), el("span", { dir: "auto" }, docs.title(i)), el("span", { class: "muted" }, note)));
    const fill = () => {
      list.replaceChildren(...ranked.slice(0, shown).map((i) => item(i, liked ? percent(liked.likeness(i) ** 2, 0) : byTopic ? percent(docs.share(i, topic), 0) : "")));
      more.hidden = ranked.length <= shown;
      more.textContent = Math.min(step, ranked.length - shown) + " more";
    };
    // The list begins with those that have most of the chosen topic, or, where some
    // documents are chosen, that are most like all of these.
    // A text that is given comes before both: then those come first that are most like it.
    let byTopic = true, liked = null;
    const rank = () => {
      liked = wanted.like.trim() ? docs.likeText(wanted.like) : null;
      const rate = liked ? liked.likeness : byTopic ? (i) => docs.share(i, topic) : docs.likenessTo(docs.mix(is).map(Math.sqrt)), part = new Float32Array(count);
      for (let i = 0; i < count; i++) if (is[i]) part[i] = rate(i);
      ranked = range(count).filter((i) => is[i]).sort((a, b) => part[b] - part[a] || a - b);
      $("documents-liked").textContent = liked ? "The text is " + liked.best.map((t) => percent(t.share, 0) + " “" + label(t.k) + "”").join(" and ") + say(". Of its {words} this page knows ") + liked.known + " of " + liked.all + "." : wanted.like.trim() ? say("This page knows no {word} of the text.") : "";
      $("documents-order").textContent = liked ? "Most like the text first" : byTopic ? "Most of " + label(topic) + " first" : "The most typical first";
      fill();
    };
    let all = null; // mean shares over all documents
    const tellMix = () => {
      all = all || docs.mix(null);
      const some = state.chosen < count, here = some ? docs.mix(is) : all;
      const compared = some && !docs.partly(); // with all
      $("documents-mix-title").textContent = compared ? "Their topics, and how many times as much as in all" : "Their topics";
      const best = by(range(K).filter(alive), (k) => here[k]).slice(0, 7);
      const scale = Math.max(1e-9, ...best.map((k) => Math.max(here[k], all[k])));
      $("documents-mix-title").hidden = $("documents-order").hidden = !state.chosen;
      $("documents-mix").replaceChildren(...(state.chosen ? best : []).map((k) => {
        const bar = el("i"), tick = el("b");
        bar.style.width = 100 * here[k] / scale + "%";
        tick.style.left = 100 * all[k] / scale + "%";
        return el("li", { class: k === topic ? "on" : "" }, el("button", { type: "button", dir: "auto", title: label(k), onclick: () => choose(k) }, label(k)),
          el("span", { class: "track", "aria-hidden": "true" }, bar, compared ? tick : null), el("span", { class: "v" }, percent(here[k])), el("span", { class: "v" }, compared && all[k] > 0 ? times(here[k] / all[k]) : ""));
      }));
    };
    const tellChosen = () => {
      const said = docs.many();
      $("documents-count").textContent = said[0].toUpperCase() + said.slice(1);
      if (find.value !== wanted.text) find.value = wanted.text;
      if (like.value !== wanted.like) like.value = wanted.like;
      clear.hidden = state.chosen === count && !docs.why() && !wanted.like.trim();
      $("documents-why").textContent = docs.why();
      shown = step;
      byTopic = state.chosen === count;
      tellMix();
      rank();
    };
    more.addEventListener("click", () => {
      const first = shown;
      shown += step;
      fill();
      list.children[first].firstChild.focus({ preventScroll: true });
    });
    clear.addEventListener("click", () => {
      find.value = like.value = "";
      docs.clear();
      find.focus({ preventScroll: true });
    });
    find.addEventListener("input", () => {
      wanted.text = find.value;
      docs.soon();
    });

    like.addEventListener("input", () => {
      wanted.like = like.value;
      docs.soon();
    });

    // ---- filters ---------------------------------------------------------------

    const filters = $("documents-filters"), box = filters.querySelector(".filters");
    // Each filter says how to show what is wanted, whoever changed it.
    let syncs = [];
    const levels = (f, at) => el("div", { class: "levels", tabindex: f.big.length > 6 ? 0 : null, role: "group", "aria-label": f.name }, ...f.big.concat(f.has[0] ? [0] : []).map((l) => {
      const check = el("input", { type: "checkbox", autocomplete: "off", onchange: () => docs.toggle(at, l) });
      syncs.push(() => { check.checked = !!wanted.levels.get(at)?.has(l); });
      return el("label", {}, check, el("span", { dir: "auto", title: docs.told(f, l) }, docs.told(f, l)), el("span", { class: "muted" }, String(f.has[l])));
    }));
    const span = (f, at) => {
      const last = f.sorted.length - 1;
      const time = f.kind === "time", ends = last < 0 ? [0, 0] : [f.value(f.sorted[0]), f.value(f.sorted[last])];
      const iso = (s) => docs.date(s, 86400);
      const input = (end) => {
        const e = el("input", { type: time ? "date" : "number", step: time ? null : "any", placeholder: time ? null : show(ends[end], 6), min: time ? iso(ends[0]) : null, max: time ? iso(ends[1]) : null, autocomplete: "off" });
        syncs.push(() => {
          const v = wanted.ranges.get(at)?.[end];
          if (document.activeElement !== e) e.value = v === undefined || !isFinite(v) ? "" : time ? iso(v) : String(v);
        });
        e.addEventListener("change", () => {
          const range = wanted.ranges.get(at) || [-Infinity, Infinity];
          const v = e.value === "" ? NaN : time ? Date.parse(e.value + "T00:00:00Z") / 1000 + (end ? 86399 : 0) : Number(e.value);
          range[end] = isNum(v) ? v : end ? Infinity : -Infinity;
          if (isFinite(range[0]) || isFinite(range[1])) wanted.ranges.set(at, range);
          else wanted.ranges.delete(at);
          docs.soon();
        });
        return el("label", { class: "field" }, el("span", {}, end ? "to" : "from"), e);
      };
      return el("div", { class: "range" }, input(0), input(1));
    };
    const sync = () => { for (const f of syncs) f(); };
    const drawFilters = () => {
      syncs = [];
      box.replaceChildren(...fields.map((f, at) => el("fieldset", {}, el("legend", { dir: "auto" }, f.name + (f.unit ? ", " + f.unit : "")), f.kind === "category" ? levels(f, at) : span(f, at))));
      sync();
    };
    filters.addEventListener("toggle", () => { if (filters.open && !syncs.length) drawFilters(); });

    // ---- reading ---------------------------------------------------------------

    // wordsOf returns an expression that finds the words of a topic in texts: those by
    // which to recognise it, and those of the page that are mostly its own.
    const wordsOf = (k) => {
      const mine = new Set(asRead(k).map((w) => w.w));
      data.home.forEach((h, w) => { if (into(h[0]) === k && h[1] >= 0.4) mine.add(w); });
      const forms = [...mine].map((w) => words[w]).sort((a, b) => b.length - a.length).map((w) => {
        const form = w.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&").replace(/[_\s]+/g, "[\\s_-]+");
        return scripts.test(w) ? form : "(?<![\\p{L}\\p{N}])" + form + "(?![\\p{L}\\p{N}])";
      });
      return forms.length ? new RegExp(forms.join("|"), "giu") : null;
    };
    const marked = (text, find) => {
      const out = [];
      let at = 0, n = 0;
      for (const m of find ? text.matchAll(find) : []) {
        if (!m[0]) continue;
        out.push(text.slice(at, m.index), el("mark", {}, m[0]));
        at = m.index + m[0].length;
        n++;
      }
      out.push(text.slice(at));
      return [out, n];
    };
    const facts = (i) => fields.slice(2).filter((f) => f.v[i]).map((f) => el("div", {}, el("dt", { dir: "auto" }, f.name), el("dd", { dir: "auto" }, docs.told(f, f.v[i]))));
    const tellRead = () => {
      const i = reading, of = docs.topicsOf(i);
      const k = marks;
      const text = docs.texts.get(i), id = docs.ids[i];
      const body = el("div", { class: "text", dir: "auto" });
      let n = 0;
      if (text) {
        const find = wordsOf(k);
        body.append(...text.split("\n").map((line) => {
          const [parts, some] = marked(line, find);
          n += some;
          return el("p", {}, ...parts);
        }));
      }
      const rest = 1 - sum(of.map((t) => t.share));
      const scale = Math.max(1e-9, ...of.map((t) => t.share));
      const bars = of.map((t) => {
        const bar = el("i");
        bar.style.width = 100 * t.share / scale + "%";
        return el("li", { class: t.k === k ? "on" : "" }, el("button", { type: "button", dir: "auto", title: label(t.k), "aria-label": name(t.k) + ", " + label(t.k) + say(": mark its {words}"), onclick: () => choose(t.k) }, label(t.k)),
          el("span", { class: "track", "aria-hidden": "true" }, bar), el("span", { class: "v" }, percent(t.share, 0)));
      });
      pane.replaceChildren(...[
        el("div", { class: "side-head" }, el("button", { type: "button", id: "documents-back", onclick: () => close(true) }, "← List")),
        el("h3", { id: "documents-name", dir: "auto" }, docs.title(i)),
        id && id !== docs.title(i) ? el("p", { class: "muted small", dir: "auto" }, id) : null,
        el("h4", { class: "eyebrow" }, "Topics"), el("ol", { class: "bars" }, ...bars),
        rest > 0.015 ? el("p", { class: "muted small" }, percent(rest, 0) + " of it is spread over other topics") : null,
        el("h4", { class: "eyebrow" }, "Text"),
        el("p", { class: "muted small", dir: "auto" }, text ? (n ? n + say(n === 1 ? " {word} of " : " {words} of ") : say("No {word} of ")) + label(k) + (n ? " marked" : " is here") : docs.texts.size ? say("The texts of other {documents} took the room of this page.") : "The page has no texts."),
        text ? body : null,
        facts(i).length ? el("h4", { class: "eyebrow" }, "Known of it") : null, facts(i).length ? el("dl", { class: "facts" }, ...facts(i)) : null,
        el("h4", { class: "eyebrow" }, "With the most similar topics"),
        el("ol", { class: "found" }, ...docs.similar(i, 6).map((d) => item(d, ""))),
      ].filter(Boolean));
    };
    readDocument = (i, focus) => {
      if (reading < 0) back = focus ? document.activeElement : null;
      reading = i;
      marks = docs.share(i, topic) >= 0.1 || own[i] < 0 ? topic : own[i];
      pane.dataset.doc = String(i);
      chosenBox.hidden = true;
      pane.hidden = false;
      tellRead();
      pane.parentElement.scrollTop = 0;
      if (focus) pane.focus({ preventScroll: true });
      if (pane.getBoundingClientRect().top > innerHeight - 120 || pane.getBoundingClientRect().bottom < 120) pane.scrollIntoView({ block: "start" });
      for (const f of docs.onRead) f(i);
    };
    const close = (focus) => {
      reading = -1;
      delete pane.dataset.doc;
      pane.hidden = true;
      chosenBox.hidden = false;
      if (focus && back && back.isConnected) back.focus();
      back = null;
      for (const f of docs.onRead) f(-1);
    };
    pane.addEventListener("keydown", (e) => { if (e.key === "Escape") close(true); });

    // ---- table -----------------------------------------------------------------

    exportable(chosenBox.querySelector(".side-head"), say("chosen {documents}"), {
      rows: () => [["id", "title", ...known.map((f) => f.name), ...range(K).filter(alive).map((k) => k + ": " + label(k))],
        ...ranked.map((i) => [docs.ids[i], docs.title(i), ...known.map((f) => !f.v[i] ? "" : f.kind === "number" ? f.value(f.v[i]) : docs.told(f, f.v[i])), ...range(K).filter(alive).map((k) => Number(docs.share(i, k).toFixed(3)) || "")])],
    });

    docs.onChosen.push(() => {
      if (reading >= 0 && state.chosen < count) close(false);
      tellChosen();
      sync();
    });
    docs.onText.push(() => {
      $("documents").dataset.texts = String(docs.texts.size);
      find.placeholder = docs.texts.size ? "in titles, ids and " + (data.documents.partly ? docs.grouped(docs.texts.size) + " " : "") + "texts" : "in titles and ids";
      if (wanted.text) docs.soon();
      if (reading >= 0) tellRead();
      else fill();
    });
    onEdit.push(() => {
      all = null;
      if (syncs.length) drawFilters();
      tellChosen();
      if (reading >= 0) tellRead();
    });
    onTopic.push(() => {
      byTopic = true;
      rank();
      tellMix();
      marks = topic;
      if (reading >= 0) tellRead();
    });
    redraws.push(fill);
    docs.onColour.push(fill);
    tellChosen();
  }
