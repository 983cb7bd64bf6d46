  // ---- topics over time --------------------------------------------------------

  // fx reads the effects: of a point and a quantity, an estimate v from lo to hi.
  const fx = data.effects;
  // Of topics that the reader made one the estimates add, and there is no interval.
  const fxPlace = new Map(fx ? fx.quantities.map((q, i) => [q.topic, i]) : []); // of topics
  const fxOf = (list, p, q) => {
    const at = (i) => 3 * (p * fx.quantities.length + i), k = fx.quantities[q].topic, parts = k < 0 ? [q] : partsOf(k).map((l) => fxPlace.get(l));
    if (parts.length > 1) return { v: parts.some((l) => !isNum(list[at(l)])) ? null : sum(parts.map((l) => list[at(l)])), lo: null, hi: null };
    return { v: list[at(q)], lo: list[at(q) + 1], hi: list[at(q) + 2] };
  };
  const fxAverage = (q) => fxOf(fx.shares, 0, q).v;
  // fxLiving are the topics that the reader has, fxAsked what was asked for besides them.
  const fxLiving = () => range(fx.quantities.length).filter((q) => fx.quantities[q].topic >= 0 && alive(fx.quantities[q].topic));
  const fxAsked = () => range(fx.quantities.length).filter((q) => fx.quantities[q].topic < 0);
  const fxName = (q) => fx.quantities[q].topic >= 0 ? label(fx.quantities[q].topic) : fx.quantities[q].name;
  const fxLong = (q) => (fx.quantities[q].topic >= 0 ? name(fx.quantities[q].topic) + ", " : "") + fxName(q);
  // spread writes an interval, each end as f does.
  const spread = (x, f) => isNum(x.v) ? within(x.lo, x.hi, f) : "";
  // fxShare and fxDiff write a prediction, and a difference, of a quantity.
  const fxShare = (x, d = 1) => sign((100 * x).toFixed(d));
  const fxDiff = (x, d = 2) => {
    const s = Math.abs(100 * x).toFixed(d);
    return (Number(s) === 0 ? "" : x < 0 ? "−" : "+") + s;
  };
  // endsIn are the ends of an axis of times, without hours where there is no room for them.
  const endsIn = (t, wide) => sum(t.ends.map((s) => widthOf(s, 12))) + 12 <= wide ? t.ends : t.ends.map((s) => s.replace(/ \d+:\d+$/, ""));
  const doubtful = (x) => !(x.lo > 0 || x.hi < 0);
  const fxUnknown = (p) => p.few ? "too few to tell" : p.n ? "not known" : say("no {documents}");
  const documents = (p) => p.n + say(p.n === 1 ? " {document}" : " {documents}");
  // firstTerm is the number of the first that is not one of time, which is above.
  const firstTerm = () => Math.max(0, fx.terms.findIndex((t) => t.kind !== "times"));
  // together holds the topics that are drawn in one picture over time, by numbers, for the address.
  const together = { picked: null, draw: () => {} };
  const pick = (q) => { if (fx.quantities[q].topic >= 0) choose(fx.quantities[q].topic); };

  if ($("time")) {
    const terms = fx.terms.filter((t) => t.kind === "times"), few = 24;
    const select = $("time-term"), sorted = $("time-order"), same = $("time-same"), more = $("time-more");
    select.append(...terms.map((t, i) => el("option", { value: i }, t.title)));
    $("time-terms").hidden = terms.length < 2;
    let all = false, bin = null, parts = [];
    const now = () => terms[select.value || 0];
    // ends are the first and the last bin of the line that is known and full.
    const ends = (t, q) => {
      const known = range(t.points.length).filter((p) => isNum(fxOf(t.predictions, p, q).v));
      const full = known.filter((p) => !t.points[p].incomplete);
      return full.length > 1 ? [full[0], full[full.length - 1]] : null;
    };
    // change is that between the ends, with its interval, as TermEffects.Change has it.
    const change = (t, q) => {
      const e = ends(t, q);
      if (!e) return { v: NaN };
      const [a, b] = e.map((p) => fxOf(t.predictions, p, q)), v = b.v - a.v;
      return { v, lo: v - Math.hypot(b.v - b.lo, a.hi - a.v), hi: v + Math.hypot(b.hi - b.v, a.v - a.lo) };
    };
    // ranked puts what is certain before what is not.
    const ranked = (x, v) => !isNum(x.v) ? NaN : doubtful(x) ? v / 1e3 : v;
    const ordered = (t) => {
      const value = { share: fxAverage, change: (q) => ranked(change(t, q), Math.abs(change(t, q).v)), rise: (q) => ranked(change(t, q), change(t, q).v), fall: (q) => ranked(change(t, q), -change(t, q).v) }[sorted.value];
      return fxAsked().concat(by(fxLiving(), value));
    };
    // top is the greatest number that a panel shows: wide intervals are cut.
    const reach = (t, q) => {
      const known = range(t.points.length).filter((p) => isNum(fxOf(t.predictions, p, q).v)), full = known.filter((p) => !t.points[p].incomplete);
      const points = (full.length ? full : known).map((p) => fxOf(t.predictions, p, q));
      const v = bounds(points.map((x) => x.v), [0]), w = bounds(points.flatMap((x) => [x.lo, x.hi]), [0]);
      return [Math.max(w[0], 2 * Math.min(0, v[0])), Math.min(w[1], 1.8 * Math.max(0, v[1])) || 1e-9];
    };
    const scaleOf = (q, domain) => {
      const grid = ticks(...domain, 2), d = decimals(100 * (grid.length > 1 ? grid[1] - grid[0] : domain[1]));
      return { domain, grid, write: (v) => fxShare(v, d) + " %" };
    };
    const panel = (t, q, x0, y0, wide, high, { domain, grid, write, gutter }) => {
      const list = t.points.map((p, i) => ({ x: p.x, part: p.incomplete, ...fxOf(t.predictions, i, q) }));
      const y = linear(domain[0], domain[1], high, 0), f = fxShare;
      const x = linear(...bounds(list.map((p) => p.x)), gutter + 3, wide - 3);
      const below = endsIn(t, wide - gutter);
      const g = svg("g", { class: "panel", role: "button", "data-q": q, transform: `translate(${x0} ${y0})` });
      const plot = svg("g", { transform: "translate(0 46)" });
      const clip = "time-clip-" + q;
      plot.append(svg("clipPath", { id: clip }, svg("rect", { x: 0, y: -3, width: wide, height: high + 6 })));
      for (const v of grid) plot.append(svg("line", { class: v === 0 ? "axis" : "grid", x1: gutter, x2: wide, y1: y(v), y2: y(v) }), text({ class: "tick side", x: gutter - 5, y: y(v) + 4, "text-anchor": "end" }, write(v)));
      const drawn = band(list, x, y);
      drawn.setAttribute("clip-path", `url(#${clip})`);
      plot.append(drawn);
      plot.append(text({ class: "tick", x: gutter, y: high + 15 }, below[0]), text({ class: "tick", x: wide, y: high + 15, "text-anchor": "end" }, t.points.length > 1 ? below[1] : ""));
      const line = svg("line", { class: "cursor", y1: 0, y2: high }), dot = svg("circle", { class: "spot", r: 4 });
      plot.append(line, dot);
      const said = text({ class: "said", x: 0, y: 33 }, "");
      const e = ends(t, q), plain = e ? "from " + f(fxOf(t.predictions, e[0], q).v, 1) + " to " + f(fxOf(t.predictions, e[1], q).v, 1) + " %" + (doubtful(change(t, q)) ? ", not certain" : "") : "too few to tell";
      g.append(svg("rect", { class: "ground", x: -8, y: 0, width: wide + 16, height: high + 68, rx: 6 }),
        text({ class: "name", x: 0, y: 17 }, fitted(fxName(q), wide, 15, 700)), said, plot);
      g.setAttribute("aria-label", fxLong(q) + ": " + plain);
      const tell = () => {
        const on = bin !== null, p = on ? list[bin] : null, known = on && isNum(p.v);
        line.style.display = on ? "" : "none";
        dot.style.display = known ? "" : "none";
        if (on) for (const k of ["x1", "x2"]) line.setAttribute(k, x(p.x));
        if (known) {
          dot.setAttribute("cx", x(p.x));
          dot.setAttribute("cy", clamp(y(p.v), 0, high));
        }
        said.textContent = !on ? plain : fitted(known ? f(p.v) + " %" + spread(p, f) : fxUnknown(t.points[bin]), wide, 12);
      };
      tell();
      return { g, q, tell, x: (at) => {
        let best = 0;
        list.forEach((p, i) => { if (Math.abs(x(p.x) - at) < Math.abs(x(list[best].x) - at)) best = i; });
        return best;
      }, left: x0, wide };
    };
    const tell = (to, q) => {
      bin = to;
      for (const p of parts) p.tell();
      const t = now();
      $("time-info").textContent = bin === null ? "" : t.points[bin].label + ", " + documents(t.points[bin]) + (t.points[bin].incomplete ? say(", a " + (t.unit || "bin") + " that the {documents} do not fill") : "") + (q === undefined ? "" : ". " + fxLong(q) + ": " + (() => {
        const x = fxOf(t.predictions, bin, q), f = fxShare;
        return isNum(x.v) ? f(x.v) + " %" + spread(x, f) : fxUnknown(t.points[bin]);
      })());
    };
    const mark = () => parts.forEach((p) => {
      const on = fx.quantities[p.q].topic === topic;
      p.g.classList.toggle("on", on);
      p.g.setAttribute("aria-pressed", String(on));
    });
    const draw = () => {
      const W = $("times").clientWidth, t = now();
      if (!W || !t) return;
      $("time-what").textContent = t.basis;
      const list = ordered(t), shown = all || printing() ? list : list.slice(0, few);
      const cols = Math.min(shown.length, W < 340 ? 1 : Math.max(2, Math.floor(W / 225))), gap = W < 520 ? 22 : 30;
      const wide = (W - 16 - gap * (cols - 1)) / cols, high = 84, tall = high + 84;
      const common = bounds(shown.flatMap((q) => reach(t, q)), [0]);
      const picture = svg("svg", { viewBox: `0 0 ${W} ${Math.ceil(shown.length / cols) * tall}`, width: W, height: Math.ceil(shown.length / cols) * tall, class: "plot" });
      bin = null;
      const scales = shown.map((q) => scaleOf(q, same.checked ? common : reach(t, q)));
      const gutter = 7 + Math.max(...scales.flatMap((s) => s.grid.map((v) => widthOf(s.write(v), 11))));
      parts = shown.map((q, i) => panel(t, q, 8 + i % cols * (wide + gap), Math.floor(i / cols) * tall, wide, high, { ...scales[i], gutter }));
      picture.append(...parts.map((p) => p.g));
      pointed(picture, (e) => {
        const g = e.target.closest(".panel"), p = g && parts.find((p) => p.g === g);
        if (p) tell(p.x(e.clientX - picture.getBoundingClientRect().left - p.left), p.q);
      }, () => tell(null));
      rove(parts.map((p) => p.g), { ArrowUp: -1, ArrowDown: 1, Home: -parts.length, End: parts.length }, (i) => pick(parts[i].q), (e, i) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (!step) return false;
        tell(bin === null ? (step > 0 ? 0 : t.points.length - 1) : clamp(bin + step, 0, t.points.length - 1), parts[i].q);
        return true;
      });
      $("times").replaceChildren(picture);
      more.hidden = list.length <= few;
      more.textContent = all ? "Show " + few : "Show all " + list.length;
      const key = [el("span", { class: "key-line" }), "estimate", el("span", { class: "key-band" }), "interval of " + percent(fx.level, 0)];
      if (t.points.some((p) => p.incomplete)) key.push(el("span", { class: "key-hollow" }), "a " + (t.unit || "bin") + say(" that the {documents} do not fill"));
      key.push(". ");
      if (t.points.some((p) => p.few || !p.n)) key.push(say("The line breaks where there are " + (t.points.some((p) => p.few) ? "too few" : "no") + " {documents} to tell. "));
      key.push(same.checked ? "One scale for all." : "Each panel has a scale of its own.");
      $("time-key").replaceChildren(...key);
      mark();
    };
    // The topics that changed most, or those that are picked, in one picture.
    const add = $("time-add"), most8 = 8;
    const pickedNow = () => (together.picked || ordered(now()).filter((q) => fx.quantities[q].topic >= 0).slice(0, 3).map((q) => fx.quantities[q].topic)).filter((k) => alive(k) && fxPlace.has(k));
    together.draw = () => {
      const W = $("time-overlay").clientWidth, t = now();
      if (!W || !t) return;
      const picked = pickedNow(), high = 220, lists = picked.map((k) => t.points.map((p, i) => ({ x: p.x, part: p.incomplete, ...fxOf(t.predictions, i, fxPlace.get(k)) })));
      const called = picked.map((k) => fitted(label(k), W / 4, 12.5, 600)), right = W < 520 ? 6 : 14 + Math.max(0, ...called.map((s) => widthOf(s, 12.5, 600)));
      const domain = bounds(lists.flat().map((p) => p.v), [0]), grid = ticks(...domain, 4), d = decimals(100 * (grid[1] - grid[0] || domain[1]));
      const gutter = 8 + Math.max(...grid.map((v) => widthOf(fxShare(v, d) + " %", 11)));
      const x = linear(...bounds(t.points.map((p) => p.x)), gutter + 3, W - right), y = linear(...domain, high, 6);
      const picture = svg("svg", { class: "plot overlay", viewBox: `0 0 ${W} ${high + 22}`, width: W, height: high + 22, role: "img", "aria-label": "Topics over time: " + picked.map((k) => label(k)).join(", ") + ". The numbers stand below." });
      for (const v of grid) picture.append(svg("line", { class: v === 0 ? "axis" : "grid", x1: gutter, x2: W - right, y1: y(v), y2: y(v) }), text({ class: "tick side", x: gutter - 5, y: y(v) + 4, "text-anchor": "end" }, fxShare(v, d) + " %"));
      const below = endsIn(t, W - gutter - right);
      picture.append(text({ class: "tick", x: gutter, y: high + 16 }, below[0]), text({ class: "tick", x: W - right, y: high + 16, "text-anchor": "end" }, t.points.length > 1 ? below[1] : ""));
      lists.forEach((l, i) => picture.append(band(l.map((p) => ({ ...p, lo: null, hi: null })), x, y, "hue-" + (i + 1))));
      // Names stand at the ends of their lines, apart from one another.
      let last = -Infinity;
      if (right > 6) for (const [i, p] of lists.map((l, i) => [i, l.findLast((p) => isNum(p.v))]).filter(([, p]) => p).sort((a, b) => y(a[1].v) - y(b[1].v))) {
        last = Math.max(last + 14, y(p.v) + 4);
        picture.append(text({ class: "end hue-" + (i + 1), x: W - right + 8, y: last }, called[i]));
      }
      $("time-overlay").replaceChildren(picture);
      add.replaceChildren(el("option", { value: "" }, "add a topic"), ...shareOrder.filter((k) => fxPlace.has(k) && !picked.includes(k)).map((k) => el("option", { value: k }, label(k))));
      add.disabled = picked.length >= most8;
      $("time-picked").replaceChildren(...picked.map((k, i) => el("li", {}, el("button", { type: "button", "aria-label": "Without " + label(k), onclick: () => repick(picked.filter((l) => l !== k)) }, el("i", { class: "hue hue-" + (i + 1), "aria-hidden": "true" }), el("span", { dir: "auto" }, label(k)), " ×"))));
    };
    const repick = (list) => {
      together.picked = list;
      together.draw();
      for (const f of onTold) f();
    };
    add.addEventListener("change", () => { if (add.value !== "") repick([...pickedNow(), Number(add.value)]); });
    select.addEventListener("change", together.draw);
    redraws.push(together.draw);
    onEdit.push(together.draw);
    exportable($("time-together"), "topics together over time", { svg: () => $("time-overlay").firstChild, note: () => say("Shares of {a document}, on average. ") + pickedNow().map((k) => label(k)).join(", ") + ". " + now().basis });
    for (const c of [select, sorted, same]) c.addEventListener("change", draw);
    more.addEventListener("click", () => { all = !all; draw(); });
    redraws.push(draw);
    onEdit.push(draw);
    exportable($("time-figure"), "topics over time", { svg: () => $("times").firstChild, note: () => say("Shares of {a document}, on average. Lines are estimates, bands their intervals of ") + percent(fx.level, 0) + ". " + now().basis });
    onTopic.push(mark);
  }
