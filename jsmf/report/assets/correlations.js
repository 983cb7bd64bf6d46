  // ---- network -----------------------------------------------------------------

  {
    const pad = 26;
    let picture, edges, nodes, names, firstLinked, isAlone;
    const drawNetwork = () => {
      picture = svg("svg", { viewBox: `${-pad} ${-pad} ${M.width + 2 * pad} ${M.height + 2 * pad}` });
      const strongest = most(M.links.map(([a, b]) => corr(a, b)), 1e-9);
      edges = M.links.map(([a, b]) => {
        const c = corr(a, b) / strongest;
        const e = svg("line", { class: "edge", x1: M.x[a], y1: M.y[a], x2: M.x[b], y2: M.y[b], "stroke-width": (0.8 + 5 * c).toFixed(2), "stroke-opacity": (0.25 + 0.6 * c).toFixed(2) });
        const title = svg("title");
        title.textContent = label(M.topics[a]) + " and " + label(M.topics[b]) + ": " + signed(corr(a, b));
        e.append(title);
        return e;
      });
      const made = M.topics.map((k, i) => disc(k, M.x[i], M.y[i], M.r[i]));
      nodes = made.map((d) => d.node);
      names = made.map((d) => d.name);
      walk(nodes, M.x, M.y, (i) => choose(M.topics[i]));
      const linked = new Set(M.links.flat()), alone = range(n).filter((i) => !linked.has(i));
      if (alone.length < n) for (const i of alone) nodes[i].style.display = names[i].style.display = "none"; // told below
      firstLinked = alone.length < n ? range(n).find((i) => linked.has(i)) : 0;
      isAlone = (i) => alone.length < n && !linked.has(i);
      $("network-alone").replaceChildren(...(alone.length && alone.length < n ? ["Without a line: ", ...alone.flatMap((i, at) => [at ? ", " : "", link(M.topics[i], label(M.topics[i]))]), "."] : []));
      picture.append(...edges, ...nodes, ...names); // names above all
      $("network").replaceChildren(picture);
      if (!M.named) fitNames(names, M.x, M.y, M.r);
    };
    drawNetwork();
    $("network").after(exportable($("panel-network"), "network of topics", { svg: () => picture, note: () => $("panel-network").querySelector("p").textContent, rows: () => [["topic", "name", "topic 2", "name 2", "correlation"],
      ...M.links.map(([a, b]) => [digits(M.topics[a]), label(M.topics[a]), digits(M.topics[b]), label(M.topics[b]), corr(a, b)])] }));
    onEdit.push(drawNetwork);
    onTopic.push(() => {
      const at = placeOf.get(drawnOf(topic));
      const near = new Set();
      M.links.forEach(([a, b], i) => {
        const mine = a === at || b === at;
        edges[i].classList.toggle("dim", !mine);
        if (mine) near.add(a).add(b);
      });
      nodes.forEach((g, i) => {
        g.classList.toggle("near", i !== at && near.has(i));
        markDisc(g, names[i], i === at, i === (at === undefined || isAlone(at) ? firstLinked : at));
      });
    });
  }

  // ---- matrix ------------------------------------------------------------------

  // interval is that of a correlation, where it is known; unsure ones include zero, or have none.
  const interval = (i, j) => {
    if (!M.low || i === j) return null;
    const at = pairAt(M, i, j);
    return isNum(M.low[at]) && isNum(M.high[at]) ? [M.low[at], M.high[at]] : null;
  };
  const unsure = (i, j) => {
    const x = interval(i, j);
    return M.low && i !== j && (x === null || x[0] <= 0 && x[1] >= 0);
  };
  const correlation = (i, j) => {
    return signed(corr(i, j)) + (M.low && i !== j ? within(...(interval(i, j) || [null, null]), signed) : "");
  };

  const heat = $("heat"), measure = $("measure"), order = $("order");
  let cell = [0, 0]; // row and column, in the order shown
  const heatOrder = () => {
    const places = { similar: M.similar, share: by(range(n), (i) => thing(M.topics[i]).share), number: range(n) };
    return places[order.value];
  };
  // painter returns the colours of values as parts of the strongest, −1 to 1.
  const painter = () => {
    const cool = css("--cool"), warm = css("--warm");
    return (v) => `rgba(${v < 0 ? warm : cool},${Math.min(1, Math.abs(v)).toFixed(3)})`;
  };
  const bent = (u) => Math.sign(u) * Math.abs(u) ** 0.7; // so that small ones are seen next to large ones
  const scaled = () => {
    const all = (f) => {
      const out = [];
      for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) out.push(Math.abs(f(i, j)) || 0);
      return out;
    };
    if (measure.value === "corr") {
      const top = most(all(corr), 0.05);
      return { f: (i, j) => i === j ? NaN : bent(corr(i, j) / top), ends: [signed(-top), signed(top)], both: true };
    }
    if (measure.value === "lift") {
      const log = (i, j) => Math.log(Math.max(lift(i, j), 1e-3));
      const top = clamp(most(all(log), 0), 0.1, Math.log(8));
      return { f: (i, j) => i === j ? NaN : clamp(log(i, j) / top, -1, 1), ends: ["÷" + show(Math.exp(top), 2), "×" + show(Math.exp(top), 2)], both: true };
    }
    const top = most(all(joint).concat(range(n).map((i) => joint(i, i))), 1e-300);
    return { f: (i, j) => bent(Math.max(0, joint(i, j)) / top), ends: ["0", show(top, 2)], both: false };
  };
  let heatGeometry = null;
  const drawHeat = () => {
    const wide = heat.clientWidth;
    if (!wide) return;
    const { top, size } = shape(wide), high = Math.ceil(top + n * size);
    heat.style.height = high + "px";
    paintHeat(sized(heat, wide, high), wide);
    const s = scaled(), paint = painter();
    const bar = el("canvas", { "aria-hidden": "true", width: 90, height: 1 });
    const g = bar.getContext("2d");
    for (let x = 0; x < 90; x++) {
      const u = s.both ? x / 44.5 - 1 : x / 89;
      g.fillStyle = paint(measure.value === "lift" ? u : bent(u));
      g.fillRect(x, 0, 1, 1);
    }
    $("scale").replaceChildren(s.ends[0], bar, s.ends[1], ...(M.low && measure.value === "corr" ? [el("span", { class: "key-small" }), "may be zero, or too little is known"] : []));
  };
  // shape is where the matrix is on the canvas: names are on its left where there is
  // room for them, numbers above.
  const shape = (wide) => {
    const named = wide >= 480 && (wide - 150) / n >= 11;
    const top = wide / n >= 8 ? 26 : 4, left = named ? 160 : top;
    return { named, left, top, size: (wide - left) / n };
  };
  const paintHeat = (c, wide) => {
    const o = heatOrder(), { named, left, top, size } = shape(wide);
    c.fillStyle = css("--card");
    c.fillRect(left, top, n * size, n * size);
    const s = scaled(), paint = painter(), blank = css("--track"), corrs = measure.value === "corr";
    const gap = size > 7 ? 1 : 0;
    o.forEach((i, r) => o.forEach((j, q) => {
      const v = s.f(i, j), full = Math.max(size - gap, 0.5);
      const side = corrs && isNum(v) && unsure(i, j) ? 0.42 * full : full, in1 = (full - side) / 2;
      c.fillStyle = isNum(v) ? paint(v) : blank;
      c.fillRect(left + q * size + in1, top + r * size + in1, side, side);
      if (measure.value === "joint" || !isNum(v) || side < 14) return;
      c.font = "12px " + css("--sans");
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.lineWidth = 2.5;
      c.strokeStyle = css("--card");
      c.fillStyle = css("--ink");
      for (const put of ["strokeText", "fillText"]) c[put](v < 0 ? "−" : "+", left + (q + 0.5) * size, top + (r + 0.5) * size);
    }));
    if (top > 4) {
      const font = clamp(size * 0.72, 7, 12);
      c.textBaseline = "middle";
      o.forEach((i, r) => {
        const k = M.topics[i], here = k === drawnOf(topic);
        c.font = (here ? "bold " : "") + font + "px " + css("--sans");
        c.fillStyle = css(here ? "--ink" : "--muted");
        c.textAlign = "right";
        c.fillText(named ? fitted(numbered(k), left - 8, font, here ? 700 : 400) : digits(k), left - 4, top + (r + 0.5) * size);
        c.textAlign = "center";
        c.fillText(digits(k), left + (r + 0.5) * size, top - 9);
      });
    }
    c.strokeStyle = css("--ink");
    c.lineWidth = 2;
    c.strokeRect(left + cell[1] * size - 0.5, top + cell[0] * size - 0.5, size, size);
    heatGeometry = { left, top, size, o };
  };
  const tellCell = () => {
    const o = heatOrder();
    const [i, j] = [o[cell[0]], o[cell[1]]];
    const k = M.topics[i], l = M.topics[j];
    const head = i === j ? short(k) : short(k) + " and " + short(l);
    $("heat-info").replaceChildren(el("b", {}, head), el("span", { dir: "auto" }, label(k, 5)), i === j ? "" : el("span", { dir: "auto" }, label(l, 5)),
      el("span", { class: "muted" }, (i === j ? "" : "correlation " + correlation(i, j) + (unsure(i, j) ? ", may be zero" : "") + ", lift ×" + exact(lift(i, j), 5e-4) + ", ") + "joint probability " + exact(joint(i, j), 1e-9)));
  };
  const moveCell = (r, q) => {
    cell = [clamp(r, 0, n - 1), clamp(q, 0, n - 1)];
    tellCell();
    drawHeatSoon();
  };
  const cellAt = (e) => {
    if (!heatGeometry) return null;
    const { left, top, size } = heatGeometry;
    const r = Math.floor((e.offsetY - top) / size), q = Math.floor((e.offsetX - left) / size);
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
  exportable($("panel-matrix"), "matrix of correlations", { canvas: () => heat, paint: paintHeat, note: () => measure.selectedOptions[0].textContent + " of topics, " + scaled().ends.join(" to ") + (M.low && measure.value === "corr" ? "; small squares may be zero." : "."), rows: () => [["topic", "name", ...heatOrder().map((j) => digits(M.topics[j]))],
    ...heatOrder().map((i) => [digits(M.topics[i]), label(M.topics[i]), ...heatOrder().map((j) => ({ corr, lift, joint })[measure.value](i, j))])] });
  redraws.push(drawHeat);
  onEdit.push(() => {
    cell = [0, 0];
    tellCell();
    drawHeatSoon();
  });
  onTopic.push(drawHeatSoon);
  tellCell();

  // ---- pairs -----------------------------------------------------------------

  {
    let pairs = [];
    const note = el("p", { class: "muted small" });
    $("panel-pairs").prepend(note);
    // The pairs of topics: 80 whose intervals leave out zero, or that correlate most; without intervals
    // the 40 that correlate most and the 40 that correlate least.
    const rank = (p) => !M.low ? corr(...p) : (unsure(...p) ? 0 : 10) + Math.abs(corr(...p));
    const findPairs = () => {
      pairs = [];
      for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) if (isNum(corr(i, j))) pairs.push([i, j]);
      pairs.sort((a, b) => rank(b) - rank(a));
      const kept = range(pairs.length).filter((r) => r < (M.low ? 80 : 40) || !M.low && r >= pairs.length - 40);
      note.textContent = (kept.length === pairs.length ? "" : M.low ? "The first 80 of " + pairs.length + " pairs. " : "The 40 pairs that correlate most and the 40 that correlate least, of " + pairs.length + ".") + (M.low ? "Certain are those whose interval leaves out zero; of the others even the sign may be another." : "");
      return kept;
    };
    const of = (r, x) => M.topics[pairs[r][x]];
    const cell = (x) => (r) => link(of(r, x), numbered(of(r, x)));
    const both = (x) => [["topic" + (x ? " 2" : ""), (r) => digits(of(r, x))], ["name" + (x ? " 2" : ""), (r) => label(of(r, x))]];
    table($("pairs"), [
      { name: "Topic", value: (r) => of(r, 0), show: cell(0), csv: both(0) },
      { name: "and topic", value: (r) => of(r, 1), show: cell(1), csv: both(1) },
      { name: "Correlation", num: true, what: say("Pearson, of the topics’ shares over {documents}"), value: (r) => corr(...pairs[r]), show: (r) => el("span", { class: unsure(...pairs[r]) ? "muted" : "" }, correlation(...pairs[r])),
        csv: [["correlation", (r) => corr(...pairs[r])], ...(M.low ? [["low", (r) => (interval(...pairs[r]) || [])[0]], ["high", (r) => (interval(...pairs[r]) || [])[1]]] : [])] },
      { name: "Lift", num: true, what: "How many times as often together as by chance", value: (r) => lift(...pairs[r]), show: (r) => exact(lift(...pairs[r]), 5e-4) },
      { name: "Joint", num: true, what: say("A: the probability that two {words} of {a document} come from them"), value: (r) => joint(...pairs[r]), show: (r) => exact(joint(...pairs[r]), 1e-9) },
      ...(M.low ? [{ name: "Certain", num: true, what: "Whether the interval leaves out zero", value: (r) => rank(pairs[r]), show: (r) => unsure(...pairs[r]) ? "no" : "yes" }] : []),
    ], findPairs, M.low ? 5 : 2, true, (r) => [of(r, 0), of(r, 1)].includes(drawnOf(topic)), () => range(pairs.length));
  }
