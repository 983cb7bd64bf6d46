"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const K = data.topics.length;
  root.classList.add("js");

  // ---- helpers -----------------------------------------------------------------

  // el makes an element; texts become text nodes, never markup.
  const el = (tag, props, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (k === "class") e.className = v;
      else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
    }
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
  };
  const svg = (tag, props, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(props || {})) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  const isNum = (x) => typeof x === "number" && isFinite(x);
  const sign = (s) => s.replace("-", "−");
  // show writes a number with d significant digits.
  const show = (x, d = 3) => {
    if (!isNum(x)) return "–";
    const a = Math.abs(x);
    if (a !== 0 && (a < 1e-4 || a >= 1e6)) return sign(x.toExponential(d - 1));
    return sign(String(Number(x.toPrecision(d))));
  };
  // exact is show for what is 0 but for rounding.
  const exact = (x, zero) => isNum(x) && Math.abs(x) < zero ? "0" : show(x);
  const percent = (x, d = 1) => isNum(x) ? sign((100 * x).toFixed(d)) + " %" : "–";
  const small = (p) => p >= 0.1 ? percent(p, 0) : p >= 0.01 ? percent(p, 1) : p >= 0.0001 ? percent(p, 2) : "<0.01 %";
  const times = (x) => "×" + (x >= 10 ? Math.round(x) : x.toFixed(1));
  const signed = (x) => !isNum(x) ? "–" : (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  // by sorts numbers of things by a value, the largest first, what has none last.
  const by = (list, value, up) => list.slice().sort((a, b) => {
    const x = value(a), y = value(b);
    if (!isNum(x) || !isNum(y)) return isNum(x) ? -1 : isNum(y) ? 1 : a - b;
    return (up ? x - y : y - x) || a - b;
  });
  // most is the largest number of a list of any length, least if none is larger.
  const most = (list, least) => list.reduce((m, x) => x > m ? x : m, least);
  const frame = (f) => {
    let due = false;
    return () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; f(); });
    };
  };
  const clamp = (x, lo, hi) => Math.min(hi, Math.max(lo, x));

  // ---- topics ------------------------------------------------------------------

  const words = data.words;
  const logP = data.p.map(Math.log);
  const sum = (v) => v.reduce((s, x) => s + (isNum(x) ? x : 0), 0);

  // relevant returns the top words of a topic, as package report computes them.
  const relevant = (k, lambda, n) => {
    const t = data.topics[k];
    const scored = t.words.map((w, i) => ({ w, p: t.p[i], s: Math.log(t.p[i]) - (1 - lambda) * logP[w] }));
    return scored.sort((a, b) => b.s - a.s || a.w - b.w).slice(0, n);
  };
  const top = range(K).map((k) => relevant(k, 1, 10).map((x) => x.w));
  const label = (k, n = 3) => top[k].slice(0, n).map((w) => words[w]).join(" · ");
  const name = (k) => "Topic " + (k + 1);
  const anchorOf = (k) => data.topics[k].anchor;
  const short = (k) => words[anchorOf(k) >= 0 ? anchorOf(k) : top[k][0]] || name(k);
  const shareOrder = by(range(K), (k) => data.topics[k].share);
  const shareRank = [];
  shareOrder.forEach((k, i) => { shareRank[k] = i; });

  const M = data.matrix, n = M.topics.length;
  const placeOf = new Map(M.topics.map((k, i) => [k, i]));
  const corr = (i, j) => {
    if (i === j) return 1;
    if (i > j) [i, j] = [j, i];
    return M.corr[i * n - i * (i + 1) / 2 + j - i - 1];
  };
  const joint = (i, j) => {
    if (i > j) [i, j] = [j, i];
    return M.joint[i * n - i * (i - 1) / 2 + j - i];
  };
  const lift = (i, j) => joint(i, j) / (data.topics[M.topics[i]].share * data.topics[M.topics[j]].share);
  const similar = M.similar.map((i) => M.topics[i]);
  for (const k of shareOrder) if (!placeOf.has(k)) similar.push(k);

  // ---- state -------------------------------------------------------------------

  let topic = shareOrder[0];
  let lambda = 1;
  const onTopic = [];
  const choose = (k, from) => {
    topic = k;
    for (const f of onTopic) f(from);
  };
  const open = (k) => {
    choose(k);
    $("topics").scrollIntoView();
    $("list").focus({ preventScroll: true });
  };
  const redraws = []; // what must be drawn again in other colours or another size

  // ---- theme -------------------------------------------------------------------

  const themeButton = $("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("report-theme"); } catch { /* not allowed for files, in some browsers */ }
  const setTheme = (dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    themeButton.setAttribute("aria-pressed", String(dark));
    themeButton.textContent = dark ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", "Dark colours");
    for (const f of redraws) f();
  };
  const themeNow = () => setTheme(chosen ? chosen === "dark" : prefersDark.matches);
  themeButton.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("report-theme", chosen); } catch { /* as above */ }
    themeNow();
  });
  prefersDark.addEventListener("change", themeNow);
  addEventListener("beforeprint", () => {
    root.classList.add("print"); // shows the matrix too, so that it can be drawn
    setTheme(false);
  });
  addEventListener("afterprint", () => {
    root.classList.remove("print");
    themeNow();
  });

  // ---- navigation --------------------------------------------------------------

  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const e of entries) {
      if (!e.isIntersecting) continue;
      for (const [id, a] of links) {
        if (id === e.target.id) a.setAttribute("aria-current", "true");
        else a.removeAttribute("aria-current");
      }
    }
  }, { rootMargin: "-25% 0px -70% 0px" });
  document.querySelectorAll("main > section").forEach((s) => seen.observe(s));

  // ---- overview ----------------------------------------------------------------

  {
    const ribbon = $("ribbon");
    const shown = shareOrder.filter((k) => data.topics[k].share > 0);
    const all = sum(shown.map((k) => data.topics[k].share));
    const blocks = shown.map((k) => {
      const s = data.topics[k].share;
      const b = el("span", { title: name(k) + ", " + percent(s) + ": " + label(k), onclick: () => open(k) });
      b.style.flexGrow = String(s / all * 1000);
      b.append(el("i", {}, short(k)));
      return b;
    });
    ribbon.append(...blocks);
    redraws.push(() => blocks.forEach((b) => { // names that fit
      const text = document.createRange();
      text.selectNodeContents(b.firstChild);
      b.firstChild.style.visibility = text.getBoundingClientRect().width + 13 > b.getBoundingClientRect().width ? "hidden" : "visible";
    }));
    ribbon.setAttribute("aria-label", "Shares of the topics, the largest first: " + shown.slice(0, 5).map((k) => short(k) + " " + percent(data.topics[k].share)).join(", ") + (K > 5 ? " and others, listed below" : ""));
    onTopic.push(() => blocks.forEach((b, i) => b.classList.toggle("on", shown[i] === topic)));
  }

  // ---- list of topics ----------------------------------------------------------

  const list = $("list"), filter = $("filter"), sort = $("sort");
  let visible = [];
  const orders = {
    share: () => shareOrder,
    number: () => range(K),
    similar: () => similar,
    word: () => range(K).sort((a, b) => words[top[a][0]] < words[top[b][0]] ? -1 : words[top[a][0]] > words[top[b][0]] ? 1 : a - b),
  };
  const fold = (s) => s.normalize("NFKC").toLowerCase();
  const folded = words.map(fold);
  const largest = most(data.topics.map((t) => t.share), 1e-300);
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
    const q = fold(filter.value.trim());
    visible = orders[sort.value]();
    if (q) {
      visible = visible.filter((k) => {
        const t = data.topics[k];
        return String(k + 1) === q || relevant(k, 1, data.top).some((x) => folded[x.w].includes(q)) || (t.anchor >= 0 && folded[t.anchor].includes(q));
      });
    }
    list.replaceChildren(...visible.map((k) => {
      const s = data.topics[k].share;
      const bar = el("i");
      bar.style.width = clamp(100 * s / largest, 0, 100) + "%";
      return el("li", { role: "option", id: "topic-" + (k + 1), "data-k": k, "aria-label": name(k) + ", " + percent(s) + ": " + label(k, 5), onclick: () => choose(k) },
        el("span", { class: "n" }, String(k + 1)), el("span", { class: "w", dir: "auto" }, label(k)), el("span", { class: "s" }, percent(s)), el("span", { class: "b" }, bar));
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

  // ---- one topic ---------------------------------------------------------------

  const slider = $("lambda");
  const homes = (w) => {
    const h = data.home[w], out = [];
    for (let i = 0; i + 1 < h.length; i += 2) out.push(percent(h[i + 1], 0) + " in topic " + (h[i] + 1) + " (" + short(h[i]) + ")");
    return out.length ? out.join(", ") : "at home in no topic";
  };
  const tellWord = (w) => {
    const info = $("word-info");
    info.replaceChildren(el("b", { dir: "auto" }, words[w]), ": " + homes(w) + ".");
    info.hidden = false;
    find.value = words[w];
    search();
  };
  const drawBars = () => {
    const t = data.topics[topic];
    const shown = relevant(topic, lambda, data.top);
    const scale = Math.max(...shown.map((x) => x.p), 1e-300);
    $("bars").replaceChildren(...shown.map((x) => {
      const bar = el("i"), tick = el("b");
      bar.style.width = (100 * x.p / scale) + "%";
      const all = data.p[x.w] / scale;
      tick.style.left = clamp(100 * all, 0, 100) + "%";
      tick.hidden = all > 1;
      const isAnchor = x.w === t.anchor || (t.group || []).includes(x.w);
      return el("li", { class: isAnchor ? "is-anchor" : "" },
        el("button", { type: "button", dir: "auto", title: words[x.w], "aria-label": words[x.w] + (isAnchor ? ", the anchor" : "") + ": where else?", onclick: () => tellWord(x.w) }, (isAnchor ? "◆ " : "") + words[x.w]),
        el("span", { class: "track", "aria-hidden": "true" }, bar, tick),
        el("span", { class: "v" }, small(x.p)), el("span", { class: "v" }, times(x.p / data.p[x.w])));
    }));
  };
  const setLambda = () => {
    lambda = Number(slider.value);
    $("lambda-out").textContent = "λ = " + show(lambda, 2);
    slider.setAttribute("aria-valuetext", "λ = " + show(lambda, 2) + (lambda === 1 ? ", by probability" : lambda === 0 ? ", by lift" : ""));
    drawBars();
  };
  slider.addEventListener("input", setLambda);
  const goTo = (k, note) => el("li", {}, el("button", { type: "button", onclick: () => choose(k), "aria-label": name(k) + ", " + label(k) + ", correlation " + note }, el("span", { dir: "auto" }, (k + 1) + "  " + label(k)), el("span", { class: "muted" }, note)));
  onTopic.push(() => {
    const t = data.topics[topic], k = topic;
    $("detail-eyebrow").textContent = name(k) + " · " + percent(t.share) + " of all text";
    $("detail-title").textContent = label(k);
    const line = $("detail-anchor");
    line.replaceChildren();
    if (t.anchor >= 0) {
      line.append(t.group ? "Anchor of several words " : "Anchor ", el("b", { dir: "auto" }, "◆ " + (t.group ? t.group.map((w) => words[w]).join(", ") : words[t.anchor])),
        t.group ? "" : t.rank === 1 ? ", its most probable word" : ", number " + t.rank + " among its words");
    }
    const i = placeOf.get(k);
    const others = i === undefined ? [] : by(range(n).filter((j) => j !== i), (j) => corr(i, j));
    const rows = (list) => list.length ? list.map((j) => goTo(M.topics[j], signed(corr(i, j)))) : [el("li", { class: "muted small" }, "none")];
    $("with").replaceChildren(...rows(others.filter((j) => corr(i, j) > 0).slice(0, 4)));
    $("apart").replaceChildren(...rows(others.filter((j) => isNum(corr(i, j)) && corr(i, j) < 0).slice(-3).reverse()));
    $("facts").replaceChildren(...data.columns.map((c) => el("div", { title: c.what }, el("dt", {}, c.name), el("dd", {}, show(c.values[k])))));
    if ($("docs")) {
      $("docs").replaceChildren(...(t.docs || []).map((d) => el("li", {}, el("span", { class: "p" }, percent(d.share, 0)), el("span", { class: "t", dir: "auto" }, d.title),
        d.snippet ? el("span", { class: "x", dir: "auto" }, d.snippet) : null, el("span", { class: "o", dir: "auto" }, d.note || ""))));
    }
    $("word-info").hidden = true;
    drawBars();
  });

  // ---- tabs --------------------------------------------------------------------

  const tabs = [...document.querySelectorAll("[role=tab]")];
  const showTab = (tab) => {
    for (const t of tabs) {
      const on = t === tab;
      t.setAttribute("aria-selected", String(on));
      t.tabIndex = on ? 0 : -1;
      $(t.getAttribute("aria-controls")).hidden = !on;
    }
    for (const f of redraws) f();
  };
  tabs.forEach((t, i) => {
    t.addEventListener("click", () => showTab(t));
    t.addEventListener("keydown", (e) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      showTab(next);
      next.focus();
    });
  });

  // ---- network -----------------------------------------------------------------

  {
    const pad = 26;
    const picture = svg("svg", { viewBox: `${-pad} ${-pad} ${M.width + 2 * pad} ${M.height + 2 * pad}` });
    const strongest = Math.max(...M.links.map(([a, b]) => corr(a, b)), 1e-9);
    const edges = M.links.map(([a, b]) => {
      const c = corr(a, b) / strongest;
      const e = svg("line", { class: "edge", x1: M.x[a], y1: M.y[a], x2: M.x[b], y2: M.y[b], "stroke-width": (0.8 + 5 * c).toFixed(2), "stroke-opacity": (0.25 + 0.6 * c).toFixed(2) });
      const title = svg("title");
      title.textContent = name(M.topics[a]) + " and " + name(M.topics[b]) + ": " + signed(corr(a, b));
      e.append(title);
      return e;
    });
    const names = [];
    const nodes = M.topics.map((k, i) => {
      const r = M.r[i];
      const no = svg("text", { class: "no", x: M.x[i], y: M.y[i] });
      no.textContent = String(k + 1);
      no.style.fontSize = clamp(r * 0.95, 9, 17) + "px";
      const la = svg("text", { class: "la", x: M.x[i], y: M.y[i] + r + 15 });
      const called = [...short(k)];
      la.textContent = called.length > 16 ? called.slice(0, 15).join("") + "…" : called.join("");
      names.push(la);
      const title = svg("title");
      title.textContent = name(k) + ", " + percent(data.topics[k].share) + ": " + label(k, 6);
      const g = svg("g", { role: "button", tabindex: -1, "aria-label": name(k) + ", " + label(k) }, svg("circle", { cx: M.x[i], cy: M.y[i], r }), no, title);
      g.addEventListener("click", () => choose(k));
      for (const [event, on] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) {
        g.addEventListener(event, () => la.classList.toggle("shown", on || g.classList.contains("on")));
      }
      g.addEventListener("keydown", (e) => {
        if (e.key === "Enter" || e.key === " ") {
          e.preventDefault();
          choose(k);
          return;
        }
        const d = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[e.key];
        if (!d) return;
        e.preventDefault();
        let best = -1, least = Infinity;
        for (let j = 0; j < n; j++) {
          const dx = M.x[j] - M.x[i], dy = M.y[j] - M.y[i];
          const along = dx * d[0] + dy * d[1], across = Math.abs(dx * d[1]) + Math.abs(dy * d[0]);
          if (along > 0 && along + 2 * across < least) [best, least] = [j, along + 2 * across];
        }
        if (best < 0) return;
        g.setAttribute("tabindex", -1);
        nodes[best].setAttribute("tabindex", 0);
        nodes[best].focus();
      });
      return g;
    });
    picture.append(...edges, ...nodes, ...names); // names above all
    $("network").append(picture);
    // Names where there is room, of large topics first.
    const taken = range(n).map((i) => [M.x[i] - M.r[i], M.y[i] - M.r[i], M.x[i] + M.r[i], M.y[i] + M.r[i]]);
    for (const i of M.named ? [] : by(range(n), (i) => M.r[i])) {
      const t = names[i];
      const w = 8.2 * t.textContent.length / 2, x = Number(t.getAttribute("x")), y = Number(t.getAttribute("y"));
      const box = [x - w, y - 12, x + w, y + 4];
      if (taken.some((b) => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) t.classList.add("off");
      else taken.push(box);
    }
    onTopic.push((from) => {
      const at = placeOf.get(topic);
      const near = new Set();
      M.links.forEach(([a, b], i) => {
        const mine = a === at || b === at;
        edges[i].classList.toggle("dim", !mine);
        if (mine) near.add(a).add(b);
      });
      nodes.forEach((g, i) => {
        g.classList.toggle("on", i === at);
        names[i].classList.toggle("shown", i === at);
        g.classList.toggle("near", i !== at && near.has(i));
        g.setAttribute("tabindex", i === (at === undefined ? 0 : at) ? 0 : -1);
        g.setAttribute("aria-pressed", String(i === at));
      });
    });
  }

  // ---- matrix ------------------------------------------------------------------

  const heat = $("heat"), measure = $("measure"), order = $("order");
  let cell = [0, 0]; // row and column, in the order shown
  const heatOrder = () => {
    const k = { similar, share: shareOrder, number: range(K) }[order.value];
    return k.filter((t) => placeOf.has(t)).map((t) => placeOf.get(t));
  };
  // painter returns the colours of values as parts of the strongest, −1 to 1.
  const painter = () => {
    const cool = css("--cool"), warm = css("--warm");
    return (v) => `rgba(${v < 0 ? warm : cool},${Math.min(1, Math.abs(v)).toFixed(3)})`;
  };
  const scaled = () => {
    const all = (f) => {
      const out = [];
      for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) out.push(Math.abs(f(i, j)) || 0);
      return out;
    };
    if (measure.value === "corr") {
      const top = most(all(corr), 0.05);
      return { f: (i, j) => i === j ? NaN : Math.sign(corr(i, j)) * Math.sqrt(Math.abs(corr(i, j)) / top), ends: [signed(-top), signed(top)], both: true };
    }
    if (measure.value === "lift") {
      const log = (i, j) => Math.log(Math.max(lift(i, j), 1e-3));
      const top = clamp(most(all(log), 0), 0.1, Math.log(8));
      return { f: (i, j) => i === j ? NaN : clamp(log(i, j) / top, -1, 1), ends: ["÷" + show(Math.exp(top), 2), "×" + show(Math.exp(top), 2)], both: true };
    }
    const top = most(all(joint).concat(range(n).map((i) => joint(i, i))), 1e-300);
    return { f: (i, j) => Math.sqrt(Math.max(0, joint(i, j)) / top), ends: ["0", show(top, 2)], both: false };
  };
  let heatGeometry = null;
  const drawHeat = () => {
    const wide = heat.clientWidth;
    if (!wide) return;
    const o = heatOrder();
    const margin = wide / n >= 8 ? 26 : 4;
    const size = (wide - margin) / n;
    const ratio = devicePixelRatio || 1;
    heat.style.height = wide + "px";
    heat.width = Math.round(wide * ratio);
    heat.height = Math.round(wide * ratio);
    const c = heat.getContext("2d");
    c.scale(ratio, ratio);
    c.fillStyle = css("--card");
    c.fillRect(margin, margin, wide - margin, wide - margin);
    const s = scaled(), paint = painter(), blank = css("--track");
    const gap = size > 7 ? 1 : 0;
    o.forEach((i, r) => o.forEach((j, q) => {
      const v = s.f(i, j);
      c.fillStyle = isNum(v) ? paint(v) : blank;
      c.fillRect(margin + q * size, margin + r * size, Math.max(size - gap, 0.5), Math.max(size - gap, 0.5));
    }));
    if (margin > 4) {
      const font = clamp(size * 0.72, 7, 12);
      c.font = font + "px " + css("--sans");
      c.textBaseline = "middle";
      o.forEach((i, r) => {
        const here = M.topics[i] === topic;
        c.fillStyle = css(here ? "--anchor" : "--muted");
        c.textAlign = "right";
        c.fillText(String(M.topics[i] + 1), margin - 4, margin + (r + 0.5) * size);
        c.textAlign = "center";
        c.fillText(String(M.topics[i] + 1), margin + (r + 0.5) * size, margin - 9);
      });
    }
    c.strokeStyle = css("--ink");
    c.lineWidth = 2;
    c.strokeRect(margin + cell[1] * size - 0.5, margin + cell[0] * size - 0.5, size, size);
    heatGeometry = { margin, size, o };
    const bar = el("canvas", { "aria-hidden": "true", width: 90, height: 1 });
    const g = bar.getContext("2d");
    for (let x = 0; x < 90; x++) {
      const u = s.both ? x / 44.5 - 1 : x / 89;
      g.fillStyle = paint(measure.value === "lift" ? u : Math.sign(u) * Math.sqrt(Math.abs(u)));
      g.fillRect(x, 0, 1, 1);
    }
    $("scale").replaceChildren(s.ends[0], bar, s.ends[1]);
  };
  const tellCell = () => {
    const o = heatOrder();
    const [i, j] = [o[cell[0]], o[cell[1]]];
    const k = M.topics[i], l = M.topics[j];
    const head = i === j ? name(k) : "Topics " + (k + 1) + " and " + (l + 1);
    $("heat-info").replaceChildren(el("b", {}, head), el("span", { dir: "auto" }, label(k, 5)), i === j ? "" : el("span", { dir: "auto" }, label(l, 5)),
      el("span", { class: "muted" }, (i === j ? "" : "correlation " + signed(corr(i, j)) + ", lift ×" + exact(lift(i, j), 5e-4) + ", ") + "joint probability " + exact(joint(i, j), 1e-9)));
  };
  const moveCell = (r, q) => {
    cell = [clamp(r, 0, n - 1), clamp(q, 0, n - 1)];
    tellCell();
    drawHeatSoon();
  };
  const cellAt = (e) => {
    if (!heatGeometry) return null;
    const { margin, size } = heatGeometry;
    const r = Math.floor((e.offsetY - margin) / size), q = Math.floor((e.offsetX - margin) / size);
    return r >= 0 && q >= 0 && r < n && q < n ? [r, q] : null;
  };
  const drawHeatSoon = frame(drawHeat);
  heat.addEventListener("pointermove", (e) => {
    const at = cellAt(e);
    if (at && (at[0] !== cell[0] || at[1] !== cell[1])) moveCell(...at);
  });
  heat.addEventListener("click", (e) => {
    const at = cellAt(e);
    if (!at) return;
    moveCell(...at);
    choose(M.topics[heatOrder()[at[0]]]);
  });
  heat.addEventListener("keydown", (e) => {
    const d = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -n], End: [0, n], PageUp: [-10, 0], PageDown: [10, 0] }[e.key];
    if (d) {
      e.preventDefault();
      moveCell(cell[0] + d[0], cell[1] + d[1]);
    } else if (e.key === "Enter") {
      open(M.topics[heatOrder()[cell[0]]]);
    }
  });
  measure.addEventListener("change", drawHeat);
  order.addEventListener("change", () => { tellCell(); drawHeat(); });
  redraws.push(drawHeat);
  onTopic.push(drawHeatSoon);
  tellCell();

  // ---- tables ------------------------------------------------------------------

  // table fills a table that is sorted by its heads. A column has a name, the value
  // to sort by, and what to show; rows are numbers.
  const table = (node, cols, rows, sorted, falling, mark) => {
    let at = sorted, down = falling;
    const head = el("tr"), body = node.tBodies[0];
    const made = new Map();
    const fill = () => {
      [...head.children].forEach((th, i) => i === at ? th.setAttribute("aria-sort", down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
      const value = cols[at].value;
      const text = typeof value(rows[0]) === "string";
      const list = text ? rows.slice().sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a - b) * (down ? -1 : 1)) : by(rows, value, !down);
      body.replaceChildren(...list.map((r) => {
        if (!made.has(r)) made.set(r, el("tr", { "data-row": r }, ...cols.map((c, i) => el(i ? "td" : "th", { class: c.num ? "num" : "", scope: i ? null : "row", dir: c.num ? null : "auto" }, c.show(r)))));
        return made.get(r);
      }));
    };
    cols.forEach((c, i) => head.append(el("th", { scope: "col", class: c.num ? "num" : "", title: c.what || null }, el("button", {
      type: "button", onclick: () => {
        if (at === i) down = !down;
        else [at, down] = [i, c.num];
        fill();
      },
    }, c.name))));
    node.tHead.append(head);
    if (rows.length) fill();
    onTopic.push(() => made.forEach((tr, r) => tr.classList.toggle("on", mark(r))));
  };
  const link = (k, text) => el("button", { type: "button", class: "link", onclick: () => open(k), "aria-label": name(k) + ", " + label(k) }, text);
  {
    const pairs = [];
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) if (isNum(corr(i, j))) pairs.push([i, j]);
    pairs.sort((a, b) => corr(...b) - corr(...a));
    const kept = pairs.length <= 80 ? pairs : [...pairs.slice(0, 40), ...pairs.slice(-40)];
    if (kept.length < pairs.length) $("panel-pairs").prepend(el("p", { class: "muted small" }, "The 40 pairs that correlate most and the 40 that correlate least, of " + pairs.length + "."));
    const of = (r, x) => M.topics[kept[r][x]];
    const cell = (x) => (r) => link(of(r, x), (of(r, x) + 1) + "  " + label(of(r, x)));
    table($("pairs"), [
      { name: "Topic", value: (r) => of(r, 0), show: cell(0) },
      { name: "and topic", value: (r) => of(r, 1), show: cell(1) },
      { name: "Correlation", num: true, what: "Pearson, of the topics’ shares over documents", value: (r) => corr(...kept[r]), show: (r) => signed(corr(...kept[r])) },
      { name: "Lift", num: true, what: "How many times as often together as by chance", value: (r) => lift(...kept[r]), show: (r) => exact(lift(...kept[r]), 5e-4) },
      { name: "Joint", num: true, what: "A: the probability that two words of a document come from them", value: (r) => joint(...kept[r]), show: (r) => exact(joint(...kept[r]), 1e-9) },
    ], range(kept.length), 2, true, (r) => of(r, 0) === topic || of(r, 1) === topic);
  }
  table($("bytopic"), [
    { name: "Topic", num: false, value: (k) => k, show: (k) => link(k, (k + 1) + "  " + label(k)) },
    ...data.columns.map((c) => ({ name: c.name, what: c.what, num: true, value: (k) => c.values[k], show: (k) => show(c.values[k]) })),
  ], range(K), 1, true, (k) => k === topic);

  // ---- map ---------------------------------------------------------------------

  const plane = $("plane"), find = $("find");
  let P, count, placeOfWord, anchors, weight, heaviest, bigFirst, extent;
  let view = { x: 0, y: 0, zoom: 1 };
  let found = new Set(), hover = -1;
  const takeMap = (which) => {
    P = data.maps[which];
    count = P.words.length;
    placeOfWord = new Map(P.words.map((w, i) => [w, i]));
    anchors = new Map(); // place → topic
    data.topics.forEach((t, k) => { if (t.anchor >= 0 && placeOfWord.has(t.anchor)) anchors.set(placeOfWord.get(t.anchor), k); });
    weight = P.words.map((w) => data.p[w]);
    heaviest = most(weight, 1e-300);
    bigFirst = by(range(count), (i) => weight[i]);
    extent = [most(P.x.map(Math.abs), 0.01), most(P.y.map(Math.abs), 0.01)];
    $("map-about").textContent = count + " words, placed by " + P.name + " of what they occur with" + (P.pca && anchors.size ? ". The anchors are the corners of their world." : ".");
  };
  takeMap(0);
  // Both axes have a scale of their own, where the picture fills its frame better so,
  // but no more than half as much again.
  const scales = () => {
    const x = 0.5 * (plane.clientWidth - 90) / extent[0], y = 0.5 * (plane.clientHeight - 60) / extent[1];
    return [Math.min(x, 1.5 * y) * view.zoom, Math.min(y, 1.5 * x) * view.zoom];
  };
  const toScreen = (i) => {
    const [sx, sy] = scales();
    return [plane.clientWidth / 2 + (P.x[i] - view.x) * sx, plane.clientHeight / 2 - (P.y[i] - view.y) * sy];
  };
  const drawMap = () => {
    const w = plane.clientWidth, h = plane.clientHeight;
    if (!w) return;
    const ratio = devicePixelRatio || 1;
    plane.width = Math.round(w * ratio);
    plane.height = Math.round(h * ratio);
    const c = plane.getContext("2d");
    c.scale(ratio, ratio);
    const colour = { dot: css("--dot"), bar: css("--bar"), anchor: css("--anchor"), ink: css("--ink"), card: css("--card"), hull: css("--hull"), accent: css("--accent") };
    const at = range(count).map(toScreen);
    const inside = ([x, y], m = 8) => x > -m && y > -m && x < w + m && y < h + m;
    if (P.hull.length > 2) {
      c.beginPath();
      P.hull.forEach((i, j) => j ? c.lineTo(...at[i]) : c.moveTo(...at[i]));
      c.closePath();
      c.setLineDash([5, 5]);
      c.lineWidth = 1.2;
      c.strokeStyle = colour.hull;
      c.stroke();
      c.setLineDash([]);
    }
    const mine = new Map(relevant(topic, lambda, data.top).map((x) => [placeOfWord.get(x.w), x.p]));
    const radius = (i) => (1.3 + 3.4 * Math.sqrt(weight[i] / heaviest)) * Math.min(1.8, Math.sqrt(view.zoom));
    for (const i of bigFirst) {
      if (!inside(at[i]) || mine.has(i) || found.has(i) || anchors.has(i)) continue;
      c.globalAlpha = 0.5;
      c.fillStyle = colour.dot;
      c.beginPath();
      c.arc(at[i][0], at[i][1], radius(i), 0, 7);
      c.fill();
    }
    c.globalAlpha = 1;
    for (const i of mine.keys()) {
      if (i === undefined || !inside(at[i])) continue;
      c.fillStyle = colour.bar;
      c.beginPath();
      c.arc(at[i][0], at[i][1], radius(i) + 1.5, 0, 7);
      c.fill();
    }
    for (const [i, k] of anchors) {
      if (!inside(at[i])) continue;
      const [x, y] = at[i], r = k === topic ? 7 : 4.2;
      c.fillStyle = colour.anchor;
      c.beginPath();
      c.moveTo(x, y - r); c.lineTo(x + r, y); c.lineTo(x, y + r); c.lineTo(x - r, y);
      c.fill();
    }
    for (const i of found) {
      if (!inside(at[i])) continue;
      c.strokeStyle = colour.ink;
      c.lineWidth = 1.8;
      c.beginPath();
      c.arc(at[i][0], at[i][1], radius(i) + 4, 0, 7);
      c.stroke();
    }
    // Names, the important first, where there is room.
    const taken = [];
    c.textBaseline = "middle";
    c.lineJoin = "round";
    const nameIt = (i, fill, font, must) => {
      if (!inside(at[i], 0)) return;
      c.font = font + " " + css("--sans");
      const text = words[P.words[i]], tw = c.measureText(text).width;
      const [x, y] = at[i];
      const boxes = [[x + 8, y - 8], [x - 8 - tw, y - 8], [x - tw / 2, y + 7], [x - tw / 2, y - 23]].map(([l, t]) => [l, t, l + tw, t + 16]);
      let box = boxes.find((b) => b[0] > 2 && b[2] < w - 2 && b[1] > 1 && b[3] < h - 1 && !taken.some((t) => b[0] < t[2] + 3 && b[2] > t[0] - 3 && b[1] < t[3] && b[3] > t[1]));
      if (!box && must) box = [clamp(x + 8, 2, Math.max(2, w - tw - 2)), clamp(y - 8, 1, h - 17), x + 8 + tw, y + 8];
      if (!box) return;
      taken.push(box);
      c.lineWidth = 3.5;
      c.strokeStyle = colour.card;
      c.strokeText(text, box[0], box[1] + 8);
      c.fillStyle = fill;
      c.fillText(text, box[0], box[1] + 8);
    };
    if (hover >= 0) nameIt(hover, colour.ink, "600 14px", true);
    const mineAnchor = [...anchors].find(([, k]) => k === topic);
    if (mineAnchor && mineAnchor[0] !== hover) nameIt(mineAnchor[0], colour.anchor, "600 14px");
    for (const i of [...found].slice(0, 40)) if (i !== hover) nameIt(i, colour.ink, "600 13px");
    for (const i of mine.keys()) if (i !== undefined && i !== hover && !anchors.has(i) && !found.has(i)) nameIt(i, colour.accent, "13px");
    for (const i of by([...anchors.keys()], (i) => data.topics[anchors.get(i)].share)) if (i !== hover && anchors.get(i) !== topic && !found.has(i)) nameIt(i, colour.anchor, "13px");
    if (view.zoom > 1.5) {
      let left = Math.round(20 * view.zoom);
      for (const i of bigFirst) {
        if (left <= 0) break;
        if (i === hover || mine.has(i) || found.has(i) || anchors.has(i) || !inside(at[i], 0)) continue;
        nameIt(i, css("--muted"), "12px");
        left--;
      }
    }
  };
  const drawMapSoon = frame(drawMap);
  const tellMap = () => {
    const info = $("map-info");
    if (hover >= 0) {
      const k = anchors.get(hover);
      info.replaceChildren(el("b", { dir: "auto" }, words[P.words[hover]]), (k === undefined ? "" : ", anchor of topic " + (k + 1)) + ": " + homes(P.words[hover]) + ".");
      return;
    }
    if (!find.value.trim()) {
      info.textContent = "";
      return;
    }
    const list = [...found];
    if (list.length === 1) {
      info.replaceChildren(el("b", { dir: "auto" }, words[P.words[list[0]]]), ": " + homes(P.words[list[0]]) + ".");
    } else if (list.length) {
      info.textContent = list.length + " words: " + list.slice(0, 12).map((i) => words[P.words[i]]).join(", ") + (list.length > 12 ? ", …" : "");
    } else {
      info.textContent = "No such word on the map.";
    }
  };
  const search = () => {
    const q = fold(find.value.trim());
    found = new Set();
    if (q) {
      const exact = range(count).filter((i) => folded[P.words[i]] === q);
      const list = exact.length ? exact : bigFirst.filter((i) => folded[P.words[i]].includes(q));
      for (const i of list) found.add(i);
    }
    plane.dataset.found = String(found.size);
    hover = -1;
    tellMap();
    drawMapSoon();
  };
  find.addEventListener("input", search);
  if ($("which")) {
    $("which").addEventListener("change", (e) => {
      takeMap(Number(e.target.value));
      search();
      reset();
    });
  }
  const zoomBy = (f, px, py) => {
    const before = scales();
    const zoom = clamp(view.zoom * f, 1, 60);
    f = zoom / view.zoom;
    view.zoom = zoom;
    if (px !== undefined) { // the place below the pointer stays
      const dx = px - plane.clientWidth / 2, dy = plane.clientHeight / 2 - py;
      view.x += dx / before[0] * (1 - 1 / f);
      view.y += dy / before[1] * (1 - 1 / f);
    }
    view.x = clamp(view.x, -0.6, 0.6);
    view.y = clamp(view.y, -0.6, 0.6);
    plane.dataset.zoom = view.zoom.toFixed(3);
    drawMapSoon();
  };
  const pan = (dx, dy) => {
    const s = scales();
    view.x = clamp(view.x - dx / s[0], -0.6, 0.6);
    view.y = clamp(view.y + dy / s[1], -0.6, 0.6);
    plane.dataset.x = view.x.toFixed(4);
    drawMapSoon();
  };
  const reset = () => {
    view = { x: 0, y: 0, zoom: 1 };
    plane.dataset.zoom = "1.000";
    plane.dataset.x = "0.0000";
    drawMapSoon();
  };
  $("zoom-in").addEventListener("click", () => zoomBy(1.5));
  $("zoom-out").addEventListener("click", () => zoomBy(1 / 1.5));
  $("zoom-reset").addEventListener("click", reset);
  plane.addEventListener("keydown", (e) => {
    const d = { ArrowRight: [-60, 0], ArrowLeft: [60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
    if (d) pan(...d);
    else if (e.key === "+" || e.key === "=") zoomBy(1.5);
    else if (e.key === "-") zoomBy(1 / 1.5);
    else if (e.key === "0" || e.key === "Home") reset();
    else return;
    e.preventDefault();
  });
  plane.addEventListener("wheel", (e) => {
    if (document.activeElement !== plane && !e.ctrlKey) return; // the page scrolls
    e.preventDefault();
    zoomBy(Math.exp(-clamp(e.deltaY, -300, 300) / 400), e.offsetX, e.offsetY);
  }, { passive: false });
  const nearest = (e) => {
    let best = -1, least = 14 * 14;
    for (let i = 0; i < count; i++) {
      const [x, y] = toScreen(i);
      const d = (x - e.offsetX) ** 2 + (y - e.offsetY) ** 2 - (anchors.has(i) ? 30 : 0);
      if (d < least) [best, least] = [i, d];
    }
    return best;
  };
  const pointers = new Map();
  plane.addEventListener("pointerdown", (e) => {
    plane.focus({ preventScroll: true });
    plane.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, [e.offsetX, e.offsetY, e.offsetX, e.offsetY]);
  });
  plane.addEventListener("pointermove", (e) => {
    const p = pointers.get(e.pointerId);
    if (!p) {
      const was = hover;
      hover = nearest(e);
      if (hover !== was) { tellMap(); drawMapSoon(); }
      return;
    }
    if (pointers.size === 1) pan(e.offsetX - p[0], e.offsetY - p[1]);
    const others = [...pointers].filter(([id]) => id !== e.pointerId);
    if (others.length === 1) { // two fingers
      const o = others[0][1];
      const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
      const f = far([e.offsetX, e.offsetY], o) / Math.max(1, far(p, o));
      zoomBy(f, (e.offsetX + o[0]) / 2, (e.offsetY + o[1]) / 2);
    }
    p[0] = e.offsetX;
    p[1] = e.offsetY;
  });
  const up = (e) => {
    const p = pointers.get(e.pointerId);
    pointers.delete(e.pointerId);
    if (!p || e.type !== "pointerup" || Math.hypot(e.offsetX - p[2], e.offsetY - p[3]) > 4) return;
    hover = nearest(e); // a click
    tellMap();
    if (anchors.has(hover)) choose(anchors.get(hover));
    drawMapSoon();
  };
  plane.addEventListener("pointerup", up);
  plane.addEventListener("pointercancel", up);
  plane.addEventListener("pointerleave", () => {
    if (hover < 0) return;
    hover = -1;
    tellMap();
    drawMapSoon();
  });
  redraws.push(drawMap);
  onTopic.push(drawMapSoon);
  slider.addEventListener("input", drawMapSoon);
  plane.dataset.zoom = "1.000";

  // ---- charts of the fit -------------------------------------------------------

  // chart draws values against their number, or against xs with a mark at here.
  const chart = (title, note, values, log, into = "charts", xs = null, here = null) => {
    const list = values.map((v, i) => [xs ? xs[i] : i + 1, v]).filter(([, v]) => isNum(v) && (!log || v > 0));
    if (list.length < 2) return;
    const W = 360, H = 190, left = 58, right = 10, high = 10, low = 24;
    const f = log ? Math.log10 : (x) => x;
    let lo = Math.min(...list.map(([, v]) => f(v))), hi = Math.max(...list.map(([, v]) => f(v)));
    if (hi === lo) [lo, hi] = [lo - 0.5, hi + 0.5];
    const first = list[0][0], last = list[list.length - 1][0];
    const x = (i) => left + (i - first) / Math.max(1, last - first) * (W - left - right);
    const y = (v) => high + (hi - f(v)) / (hi - lo) * (H - high - low);
    const s = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title + ": from " + show(list[0][1]) + " to " + show(list[list.length - 1][1]) + " in " + list.length + " values" });
    for (const u of [0, 0.5, 1]) {
      const v = log ? 10 ** (lo + u * (hi - lo)) : lo + u * (hi - lo);
      const g = svg("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" });
      g.textContent = show(v, xs ? 3 : 2);
      s.append(svg("line", { class: "grid", x1: left, x2: W - right, y1: y(v), y2: y(v) }), g);
    }
    if (here !== null && here >= first && here <= last) s.append(svg("line", { class: "here", x1: x(here), x2: x(here), y1: high, y2: H - low }));
    for (const i of (xs ? [first, last] : [first, Math.round((first + last) / 2), last]).filter((v, i, a) => a.indexOf(v) === i)) {
      const g = svg("text", { x: x(i), y: H - 5, "text-anchor": i === last ? "end" : i === first ? "start" : "middle" });
      g.textContent = String(i);
      s.append(g);
    }
    s.append(svg("path", { class: "line", d: list.map(([i, v], j) => (j ? "L" : "M") + x(i).toFixed(1) + " " + y(v).toFixed(1)).join("") }));
    if (list.length <= 60) for (const [i, v] of list) s.append(svg("circle", { class: "pt", cx: x(i).toFixed(1), cy: y(v).toFixed(1), r: list.length > 30 ? 1.8 : 2.6 }));
    $(into).append(el("figure", {}, el("figcaption", {}, el("b", {}, title), el("span", { class: "muted small" }, note)), s,
      el("details", {}, el("summary", {}, "The numbers"), el("p", {}, list.map(([i, v]) => i + ": " + show(v, 4)).join("   ")))));
  };
  chart("Convergence", "Change of the matrix in each iteration of the rectification", data.changes, true);
  chart("Spectrum", "Eigenvalues of the rectified matrix, the largest first", data.eigen, true);
  chart("Anchors", "Distance of each new anchor from those before it", data.norms, true);
  chart("Refinement", "Mean log-likelihood of a token before each pass, and at the end", data.loglik, false);
  if (data.sweep) for (const c of data.sweep.curves.filter((c) => c.draw)) chart(c.name, c.what + (c.better === "neither" ? "" : " (" + c.better + " is better)"), c.values, false, "curves", data.sweep.k, K);
  if (!$("charts").children.length) $("charts").remove();

  document.querySelectorAll(".tree a").forEach((a) => a.addEventListener("click", () => choose(Number(a.dataset.topic))));

  // ---- begin -------------------------------------------------------------------

  let width = innerWidth;
  addEventListener("resize", frame(() => {
    if (innerWidth === width) return; // the bars of a phone come and go
    width = innerWidth;
    for (const f of redraws) f();
  }));
  listTopics();
  setLambda();
  choose(topic);
  themeNow();
  root.dataset.ready = "true";
})();
