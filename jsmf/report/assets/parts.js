  // ---- tabs --------------------------------------------------------------------

  // showTab shows the panel of a tab and hides those of the others of its list.
  const showTab = (tab) => {
    for (const t of tab.parentElement.querySelectorAll("[role=tab]")) {
      const on = t === tab;
      t.setAttribute("aria-selected", String(on));
      t.tabIndex = on ? 0 : -1;
      $(t.getAttribute("aria-controls")).hidden = !on;
    }
    for (const f of redraws) f();
  };
  document.querySelectorAll("[role=tablist]").forEach((bar) => {
    const tabs = [...bar.querySelectorAll("[role=tab]")];
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
  });

  // ---- discs -------------------------------------------------------------------

  // walk lets people go over the elements of a drawing, at x and y, by arrow keys, to
  // the nearest in a direction; Enter, the space bar and a click choose one. One of
  // them at a time is a stop of Tab.
  const walk = (nodes, x, y, choose) => nodes.forEach((g, i) => {
    g.addEventListener("click", () => choose(i));
    g.addEventListener("keydown", (e) => {
      if (e.key === "Enter" || e.key === " ") {
        e.preventDefault();
        choose(i);
        return;
      }
      const d = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[e.key];
      if (!d) return;
      e.preventDefault();
      let best = -1, least = Infinity;
      for (let j = 0; j < nodes.length; j++) {
        const dx = x[j] - x[i], dy = y[j] - y[i];
        const along = dx * d[0] + dy * d[1], across = Math.abs(dx * d[1]) + Math.abs(dy * d[0]);
        if (along > 0 && along + 2 * across < least) [best, least] = [j, along + 2 * across];
      }
      if (best < 0) return;
      g.setAttribute("tabindex", -1);
      nodes[best].setAttribute("tabindex", 0);
      nodes[best].focus();
    });
  });

  // disc draws a topic as a disc with its number, and its name for below.
  const disc = (k, x, y, r) => {
    const no = svg("text", { class: "no", x, y });
    no.textContent = k < K ? k : thing(k).number;
    no.style.fontSize = clamp(r * 0.95, 9, 17) + "px";
    const la = svg("text", { class: "la", x, y: y + r + 15 });
    const called = [...short(k)];
    la.textContent = (called.length > 16 ? called.slice(0, 15).join("") + "…" : called.join("")) + lettered(k);
    const title = svg("title");
    title.textContent = name(k) + ", " + percent(thing(k).share) + ": " + label(k) + "\n" + label(k, 6);
    const g = svg("g", { class: "disc", role: "button", tabindex: -1 }, svg("circle", { cx: x, cy: y, r }), no, title);
    for (const [event, on] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) {
      g.addEventListener(event, () => la.classList.toggle("shown", on || g.classList.contains("on")));
    }
    return { node: g, name: la };
  };
  // markDisc shows whether a disc is that of the chosen topic, and a stop of Tab.
  const markDisc = (g, la, on, stop) => {
    g.classList.toggle("on", on);
    la.classList.toggle("shown", on);
    g.setAttribute("tabindex", stop ? 0 : -1);
    g.setAttribute("aria-pressed", String(on));
  };
  // fitNames puts names above discs where there is no room below, and leaves out those for
  // which there is none there either, of small discs first.
  const fitNames = (names, x, y, r) => {
    const taken = names.map((_, i) => [x[i] - r[i], y[i] - r[i], x[i] + r[i], y[i] + r[i]]);
    for (const i of by(range(names.length), (i) => r[i])) {
      const w = 8.2 * names[i].textContent.length / 2, below = Number(names[i].getAttribute("y"));
      const box = [below, 2 * y[i] - below + 10].map((at) => [x[i] - w, at - 12, x[i] + w, at + 4, at])
        .find((box) => !taken.some((b) => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1]));
      if (box) {
        taken.push(box);
        names[i].setAttribute("y", box[4]);
      } else {
        names[i].classList.add("off");
      }
    }
  };

  // ---- tables ------------------------------------------------------------------

  // table fills a table that is sorted by its heads, and can be saved. A column has a
  // name, the value to sort by, and what to show; rows returns its rows, which are numbers,
  // and all those that are saved, if they are more. The first 250 are shown.
  const table = (node, cols, rows, sorted, falling, mark, all = rows) => {
    let at = sorted, down = falling;
    const head = el("tr"), body = node.tBodies[0];
    const made = new Map(), note = el("p", { class: "muted small" });
    let now = rows();
    const fill = () => {
      if (!now.length) {
        body.replaceChildren();
        return;
      }
      [...head.children].forEach((th, i) => i === at ? th.setAttribute("aria-sort", down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
      const value = cols[at].value;
      const text = typeof value(now[0]) === "string";
      const list = text ? now.slice().sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a - b) * (down ? -1 : 1)) : by(now, value, !down);
      note.textContent = list.length > 250 ? "The first 250 of " + list.length + " rows, as they are sorted. The file has all." : "";
      body.replaceChildren(...list.slice(0, 250).map((r) => {
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
    node.closest(".scroll").after(note);
    exportable(node.closest(".scroll"), node.dataset.saveAs, { rows: () => [cols.flatMap((c) => c.csv ? c.csv.map(([name]) => name) : [c.name]), ...all().map((r) => cols.flatMap((c) => c.csv ? c.csv.map(([, f]) => f(r)) : [c.value(r)]))] });
    fill();
    onEdit.push(() => {
      now = rows();
      made.clear();
      fill();
    });
    onTopic.push(() => made.forEach((tr, r) => tr.classList.toggle("on", mark(r))));
  };
  const link = (k, text) => el("button", { type: "button", class: "link", onclick: () => open(k), "aria-label": name(k) + ", " + label(k) }, text);

  // ---- charts ------------------------------------------------------------------

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
    const figure = el("figure", {}, el("figcaption", {}, el("b", {}, title), el("span", { class: "muted small" }, note)), s,
      el("details", {}, el("summary", {}, "The numbers"), el("p", {}, list.map(([i, v]) => i + ": " + show(v, 4)).join("   "))));
    exportable(figure, title, { svg: () => s, rows: () => [[xs ? "K" : "number", title], ...list] });
    $(into).append(figure);
  };
