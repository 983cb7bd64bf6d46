  // ---- dots and whiskers -------------------------------------------------------

  // dots draws estimates with their intervals below one another, and a line at zero. Each
  // block has a scale of its own: rows, { head } or { label, v, lo, hi, said, aria, on,
  // pick }, and axis, the format of its ticks and its name.
  const dots = (W, blocks) => {
    const narrow = W < 470, every = blocks.flatMap((b) => b.rows.filter((r) => !r.head));
    const said = Math.min(0.36 * W, Math.max(0, ...every.map((r) => widthOf(r.said, 12)))) + 8;
    // Most names fit their column, and a quarter of the width is left to the whiskers.
    const names = every.map((r) => widthOf(r.label, 13.5, 600)).sort((a, b) => a - b), usual = names[Math.floor(0.85 * (names.length - 1))] || 0;
    const left = narrow ? 6 : Math.min(W - said - 10 - W / 4, 14 + Math.min(names[names.length - 1] || 0, 1.15 * usual)), right = narrow ? 6 : said + 10;
    const picture = svg("svg", { class: "plot dots" }), parts = [];
    let at = 0;
    for (const b of blocks) at = block(picture, parts, W, b, { narrow, left, right, said }, at ? at + 14 : 0);
    for (const [k, v] of Object.entries({ viewBox: `0 0 ${W} ${at + 6}`, width: W, height: at + 6 })) picture.setAttribute(k, v);
    rove(parts, { ArrowUp: -1, ArrowDown: 1, Home: -parts.length, End: parts.length }, (i) => every[i].pick());
    return picture;
  };
  // block draws one from y = from on, and returns where it ends.
  const block = (picture, parts, W, { rows, axis }, { narrow, left, right, said }, from) => {
    const all = rows.filter((r) => !r.head);
    const ends = all.flatMap((r) => [r.lo, r.hi]).filter(isNum).map(Math.abs).sort((a, b) => a - b);
    // A few that are far wider than the others are cut.
    const widest = ends[ends.length - 1] || 1, usual = ends[Math.floor(0.96 * (ends.length - 1))] || 1;
    const limit = ends.length < 20 || widest < 2 * usual ? widest : Math.max(1.05 * usual, 1.15 * most(all.map((r) => Math.abs(r.v)), 0));
    const sides = bounds(all.flatMap((r) => [r.v, r.lo, r.hi]).filter(isNum).map((x) => clamp(x, -limit, limit)), [0]);
    const pad = 0.04 * (sides[1] - sides[0]), domain = [sides[0] - pad, sides[1] + pad];
    const x = linear(...domain, left + 6, W - right - 6), tall = narrow ? 40 : 24, top = from + 34;
    const marks = ticks(...domain, Math.max(4, (W - left - right) / 70)).filter((v) => x(v) > left + 8 && x(v) < W - right - 8);
    const step = marks.length > 1 ? marks[1] - marks[0] : domain[1];
    let at = top;
    const place = rows.map((r, i) => {
      const y = at + (r.head && i ? 8 : 0);
      at = y + (r.head ? 26 : tall);
      return y;
    });
    picture.append(text({ class: "tick", x: narrow ? 0 : left, y: from + 11 }, axis.name));
    // Lines go through all rows, or below their names where these are above the whiskers.
    const upright = (cls, v) => svg("path", { class: cls, d: narrow ? rows.map((r, i) => r.head ? "" : `M${x(v)} ${place[i] + 20}V${place[i] + tall}`).join("") : `M${x(v)} ${top - 2}V${at}` });
    let end = -Infinity; // of the last number written
    for (const v of marks) {
      const s = v === 0 ? "0" : axis.format(v, step), wide = widthOf(s, 12) / 2;
      picture.append(upright("grid", v));
      if (v !== 0 && (x(v) - wide < end + 5 || Math.abs(x(v) - x(0)) < wide + 9)) continue;
      picture.append(text({ class: "tick", x: x(v), y: top - 5, "text-anchor": "middle" }, s));
      end = x(v) + wide;
    }
    picture.append(upright("zero", 0));
    rows.forEach((r, i) => {
      const y = place[i];
      if (r.head) {
        picture.append(text({ class: "head halo", x: 0, y: y + 18 }, fitted(r.head, W, 13.5, 600)));
        return;
      }
      const mid = y + (narrow ? 29 : tall / 2), known = isNum(r.v), faint = known && doubtful(r);
      const g = svg("g", { class: "row" + (faint ? " faint" : "") + (r.on ? " on" : ""), role: "button", "aria-label": r.aria, "aria-pressed": String(!!r.on) });
      g.append(svg("rect", { class: "ground", x: 0, y, width: W, height: tall, rx: 4 }));
      g.append(text({ class: "label", x: narrow ? 6 : left - 4, y: narrow ? y + 15 : mid + 4.5, "text-anchor": narrow ? "start" : "end" }, fitted(r.label, narrow ? W - widthOf(r.said, 12) - 22 : left - 8, 13.5, r.on ? 600 : 400)));
      g.append(text({ class: "value", x: W - 6, y: narrow ? y + 15 : mid + 4, "text-anchor": "end" }, r.said));
      if (isNum(r.lo) && isNum(r.hi)) {
        const [a, b] = [x(clamp(r.lo, ...domain)), x(clamp(r.hi, ...domain))];
        g.append(svg("line", { class: "whisker", x1: a, x2: b, y1: mid, y2: mid }));
        if (r.lo < domain[0]) g.append(svg("path", { class: "beyond", d: `M${a} ${mid}l6 -4v8z` }));
        if (r.hi > domain[1]) g.append(svg("path", { class: "beyond", d: `M${b} ${mid}l-6 -4v8z` }));
      }
      if (known) g.append(svg("circle", { class: "pt" + (faint ? " hollow" : ""), cx: x(r.v), cy: mid, r: 4.6 }));
      titled(r.aria, g);
      parts.push(g);
      picture.append(g);
    });
    return at;
  };

  // curves draws an estimate with its band along x for each group, in panels of one scale.
  // axis has the formats of x and of y, a line for the average, and the name of x.
  const curves = (W, groups, axis) => {
    const cols = groups.length < 2 ? 1 : Math.max(1, Math.floor(W / 210)), gap = 22;
    const wide = (W - gap * (cols - 1)) / cols, high = groups.length < 2 ? 230 : 110, head = groups.length < 2 ? 10 : 28, tall = high + head + 34;
    const values = groups.flatMap((g) => g.list.flatMap((p) => [p.v])), ends = groups.flatMap((g) => g.list.flatMap((p) => [p.lo, p.hi]));
    const v = bounds(values, [0, axis.average]), w = bounds(ends, [0, axis.average]);
    const domain = [Math.max(w[0], v[0] - 0.8 * (v[1] - v[0])), Math.min(w[1], v[1] + 0.8 * (v[1] - v[0]))];
    const xs = bounds(groups.flatMap((g) => g.list.map((p) => p.x)));
    const rows = Math.ceil(groups.length / cols), left = 40;
    const picture = svg("svg", { viewBox: `0 0 ${W} ${rows * tall}`, width: W, height: rows * tall, class: "plot curves" });
    const x = linear(...xs, left, wide - 4), y = linear(...domain, high, 0);
    const marks = ticks(...domain, groups.length < 2 ? 5 : 3), along = axis.ticks(xs, wide - left);
    groups.forEach((group, i) => {
      const g = svg("g", { transform: `translate(${i % cols * (wide + gap)} ${Math.floor(i / cols) * tall + head})` }), clip = "curve-clip-" + i;
      if (group.name) g.append(text({ class: "name", x: 0, y: -11 }, fitted(group.name, wide, 14, 500)));
      g.append(svg("clipPath", { id: clip }, svg("rect", { x: left - 4, y: -3, width: wide - left + 8, height: high + 6 })));
      for (const v of marks) g.append(svg("line", { class: v === 0 ? "axis" : "grid", x1: left, x2: wide, y1: y(v), y2: y(v) }), text({ class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, axis.y(v, marks[1] - marks[0])));
      if (isNum(axis.average)) g.append(svg("line", { class: "average", x1: left, x2: wide, y1: y(axis.average), y2: y(axis.average) }));
      for (const [j, [at, s]] of along.entries()) g.append(svg("line", { class: "axis", x1: x(at), x2: x(at), y1: high, y2: high + 4 }), text({ class: "tick", x: x(at), y: high + 17, "text-anchor": j === along.length - 1 && x(at) > wide - 20 ? "end" : "middle" }, s));
      const drawn = band(group.list, x, y);
      drawn.setAttribute("clip-path", `url(#${clip})`);
      const line = svg("line", { class: "cursor", y1: 0, y2: high }), spot = svg("circle", { class: "spot", r: 4 });
      line.style.display = spot.style.display = "none";
      g.append(drawn, line, spot);
      group.show = (at) => {
        const p = at === null ? null : group.list[at];
        line.style.display = p ? "" : "none";
        spot.style.display = p && isNum(p.v) ? "" : "none";
        if (!p) return;
        for (const k of ["x1", "x2"]) line.setAttribute(k, x(p.x));
        spot.setAttribute("cx", x(p.x));
        if (isNum(p.v)) spot.setAttribute("cy", clamp(y(p.v), 0, high));
      };
      group.near = (px, py) => {
        const [u, v] = [px - i % cols * (wide + gap), py - Math.floor(i / cols) * tall];
        if (u < 0 || u > wide + gap || v < 0 || v > tall) return null;
        let best = 0;
        group.list.forEach((p, j) => { if (Math.abs(x(p.x) - u) < Math.abs(x(group.list[best].x) - u)) best = j; });
        return best;
      };
      picture.append(g);
    });
    return picture;
  };
