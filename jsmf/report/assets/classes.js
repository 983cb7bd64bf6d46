  // ---- topics by classes -------------------------------------------------------

  if ($("classes")) {
    const box = $("classes-cells"), order = $("classes-order"), select = $("classes-term"), steps = 12;
    select.append(...fx.terms.map((t, i) => el("option", { value: i }, t.title)));
    select.value = firstTerm();
    $("classes-terms").hidden = fx.terms.length < 2;
    const heading = (p) => now().points[p].short || now().points[p].label;
    const now = () => fx.terms[select.value];
    let cell = [0, 0], shape = null; // row and column, in the order shown
    const rowsOf = () => {
      const all = fxLiving().concat(fxAsked()), in1 = new Set(all);
      if (order.value === "share") return by(all, fxAverage);
      return now().rows ? now().rows.filter((q) => in1.has(q)) : all;
    };
    const colsOf = () => {
      const all = range(now().points.length);
      const told = (p) => fxLiving().some((q) => isNum(fxOf(now().differences, p, q).v));
      const list = (order.value === "similar" && now().levels ? now().levels : all).filter(told);
      return list.length ? list : all;
    };
    const colour = (u) => `rgba(${css(u < 0 ? "--warm" : "--cool")},${Math.abs(u).toFixed(3)})`;
    const square = (x, y, w, h) => `M${x.toFixed(1)} ${y.toFixed(1)}h${w.toFixed(1)}v${h.toFixed(1)}h${(-w).toFixed(1)}z`;
    const draw = () => {
      const room = box.parentElement.clientWidth, t = now();
      if (!room) return;
      const rows = rowsOf(), cols = colsOf();
      const names = Math.min(Math.max(room < 520 ? 112 : 330, Math.min(room / 2, room - 44 * cols.length)), 10 + Math.max(...rows.map((q) => widthOf(fxName(q), 13, 600))));
      const size = clamp((room - names) / cols.length, 15, 110), tall = clamp(size, 15, 24), flat = cols.every((p) => widthOf(heading(p), 12) < size - 4);
      const rise = flat ? 20 : Math.min(120, 12 + Math.max(...cols.map((p) => widthOf(heading(p), 12)))), top = 44 + rise;
      const W = Math.max(room, names + size * cols.length), H = top + tall * rows.length + 4;
      const values = rows.flatMap((q) => cols.map((p) => Math.abs(fxOf(t.differences, p, q).v))).filter(isNum).sort((a, b) => a - b);
      const limit = values.length ? values[Math.floor(0.99 * (values.length - 1))] || values[values.length - 1] || 1 : 1;
      const scale = (v) => Math.sign(v) * Math.sqrt(Math.min(1, Math.abs(v) / limit));
      const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, class: "plot classes" });
      // Cells of one colour are one path. What may be zero is a small square.
      const paths = new Map();
      const gap = size > 8 ? 1 : 0;
      rows.forEach((q, i) => cols.forEach((p, j) => {
        const x = fxOf(t.differences, p, q);
        const known = isNum(x.v), faint = known && doubtful(x), part = faint ? 0.42 : 1;
        const key = known ? Math.round(scale(x.v) * steps) : "none";
        const [w, h] = [(size - gap) * part, (tall - gap) * part], side = faint ? Math.min(w, h) : 0;
        const [cw, ch] = faint ? [side, side] : [w, h];
        const d = square(names + j * size + (size - gap - cw) / 2, top + i * tall + (tall - gap - ch) / 2, cw, ch);
        paths.set(key, (paths.get(key) || "") + d);
      }));
      for (const [key, d] of paths) picture.append(svg("path", key === "none" ? { class: "blank", d } : { fill: key === 0 ? css("--track") : colour(key / steps), d }));
      // What differs for certain has a sign, too.
      if (size >= 15) rows.forEach((q, i) => cols.forEach((p, j) => {
        const x = fxOf(t.differences, p, q);
        if (isNum(x.v) && !doubtful(x)) picture.append(text({ class: "sign halo", x: names + (j + 0.5) * size, y: top + (i + 0.5) * tall + 4, "text-anchor": "middle" }, x.v < 0 ? "−" : "+"));
      }));
      rows.forEach((q, i) => picture.append(text({ class: "label" + (fx.quantities[q].topic === topic ? " on" : ""), x: names - 8, y: top + (i + 0.5) * tall + 4, "text-anchor": "end" }, fitted(fxName(q), names - 10, 13, 600))));
      cols.forEach((p, j) => {
        const x = names + (j + 0.5) * size;
        const s = fitted(heading(p), flat ? size : rise - 6, 12);
        picture.append(flat ? text({ class: "tick", x, y: top - 6, "text-anchor": "middle" }, s) : text({ class: "tick", transform: `translate(${x + 4} ${top - 6}) rotate(-90)` }, s));
      });
      picture.append(key(limit, scale));
      const frame = svg("rect", { class: "frame", width: size, height: tall });
      picture.append(frame);
      shape = { names, top, size, tall, rows, cols, frame };
      cell = [clamp(cell[0], 0, rows.length - 1), clamp(cell[1], 0, cols.length - 1)];
      box.replaceChildren(picture);
      move(...cell, false);
    };
    // key explains the colours, within the picture.
    const key = (limit, scale) => {
      const g = svg("g", { class: "scale" }), wide = 150, n = 30, f = (v) => fxDiff(v, decimals(20 * limit));
      g.append(text({ class: "tick", x: 0, y: 12 }, "Percentage points from the average"));
      for (let i = 0; i < n; i++) {
        const v = ((i + 0.5) / n * 2 - 1);
        g.append(svg("rect", { x: 34 + i * wide / n, y: 20, width: wide / n + 0.4, height: 10, fill: colour(scale(v * limit)) }));
      }
      g.append(text({ class: "tick", x: 30, y: 29, "text-anchor": "end" }, f(-limit)), text({ class: "tick", x: 38 + wide, y: 29 }, f(limit)));
      g.append(svg("rect", { x: 240, y: 20, width: 6, height: 6, fill: colour(0.8), transform: "translate(0 2)" }), text({ class: "tick", x: 252, y: 29 }, "may be zero"));
      return g;
    };
    const move = (i, j, tell = true) => {
      const { names, top, size, tall, rows, cols, frame } = shape;
      cell = [clamp(i, 0, rows.length - 1), clamp(j, 0, cols.length - 1)];
      frame.setAttribute("x", names + cell[1] * size - 0.5);
      frame.setAttribute("y", top + cell[0] * tall - 0.5);
      if (!tell) return;
      const q = rows[cell[0]], p = cols[cell[1]], x = fxOf(now().differences, p, q), y = fxOf(now().predictions, p, q), f = fxShare;
      $("classes-info").replaceChildren(el("b", { dir: "auto" }, now().points[p].label), " · ", el("span", { dir: "auto" }, fxName(q)), ": " + (isNum(x.v) ?
        fxDiff(x.v) + " points" + spread(x, (v) => fxDiff(v)) + (isNum(x.lo) && doubtful(x) ? ", may be zero" : "") + "; share " + f(y.v) + " %" + spread(y, (v) => f(v)) : fxUnknown(now().points[p])) + "; " + documents(now().points[p]));
    };
    const under = (e) => {
      const r = box.firstChild.getBoundingClientRect(), { names, top, size, tall, rows, cols } = shape;
      const j = Math.floor((e.clientX - r.left - names) / size), i = Math.floor((e.clientY - r.top - top) / tall);
      return i >= 0 && j >= 0 && i < rows.length && j < cols.length ? [i, j] : null;
    };
    const see = () => { // the cell, where the box scrolls
      const outer = box.parentElement, left = shape.names + cell[1] * shape.size;
      outer.scrollLeft = clamp(outer.scrollLeft, left + shape.size - outer.clientWidth, left);
    };
    box.addEventListener("pointermove", (e) => {
      const at = shape && under(e);
      if (at) move(...at);
    });
    box.addEventListener("click", (e) => {
      const at = shape && under(e);
      if (!at) return;
      move(...at);
      pick(shape.rows[cell[0]]);
    });
    box.addEventListener("focus", () => { if (shape) move(...cell); });
    box.addEventListener("keydown", (e) => {
      const d = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -1e6], End: [0, 1e6], PageUp: [-10, 0], PageDown: [10, 0] }[e.key];
      if (e.key === "Enter") pick(shape.rows[cell[0]]);
      else if (d) {
        move(cell[0] + d[0], cell[1] + d[1]);
        see();
      } else return;
      e.preventDefault();
    });
    for (const c of [order, select]) c.addEventListener("change", draw);
    redraws.push(draw);
    onEdit.push(draw);
    exportable($("classes-figure"), "topics by class", { svg: () => box.firstChild, note: () => now().what + " Plus and minus: the interval of " + percent(fx.level, 0) + " leaves out zero." });
    onTopic.push(frame(draw));
  }
