  // ---- effects -----------------------------------------------------------------

  if ($("effects")) {
    const Q = fx.quantities.length, few = 30;
    const select = $("effect-term"), pointSelect = $("effect-point"), quantitySelect = $("effect-quantity"), more = $("effect-more");
    select.append(...fx.terms.map((t, i) => el("option", { value: i }, t.title)));
    $("effect-terms").hidden = fx.terms.length < 2;
    let term = fx.terms[firstTerm()], point = 0, quantity = fxPlace.get(topic) || 0, all = false, at = null;
    const into = (id) => $(id).querySelector(".drawing");
    const slopes = () => !!term.slopes;
    // wording writes a difference with one digit more than its scale needs.
    const wording = (x, size) => {
      const f = (v) => fxDiff(v, Math.min(3, decimals(20 * size) + 1));
      return f(x.v) + spread(x, f);
    };
    // axisOf is that of differences.
    const axisOf = (what) => ({ name: "percentage points " + what, format: (v, step) => v === 0 ? "0" : fxDiff(v, decimals(100 * step)) });
    const row = (x, p, size, name, aria, on, pick) => {
      const said = isNum(x.v) ? wording(x, size) : fxUnknown(p);
      return { label: name, ...x, said, aria: aria + ": " + said + (!isNum(x.v) ? "" : " percentage points") + (isNum(x.lo) && doubtful(x) ? ", the interval includes zero" : ""), on, pick };
    };
    const sizeOf = (list) => most(list.filter((x) => isNum(x.v)).map((x) => Math.abs(x.v)), 0);

    // The topics at a point, or their slopes, the largest first, and then what was asked for.
    const drawTopics = () => {
      const W = into("effect-topics").clientWidth, t = term;
      if (!W) return;
      const value = (q) => slopes() ? fxOf(t.slopes, 0, q) : fxOf(t.differences, point, q);
      const sums = fxAsked(), size = sizeOf(fxLiving().concat(sums).map(value));
      const line = (q) => row(value(q), slopes() ? { n: 1 } : t.points[point], size, fxName(q), fxLong(q), q === quantity, () => { quantity = q; pick(q); drawLevels(); drawTopics(); focusRow("effect-topics"); });
      const list = by(fxLiving().filter((q) => isNum(value(q).v)), (q) => value(q).v);
      const shown = all || printing() || list.length <= few ? list : list.slice(0, few / 2).concat(list.slice(-few / 2));
      const rows = shown.map(line);
      if (shown.length < list.length) rows.splice(few / 2, 0, { head: "… " + (list.length - few) + " topics between" });
      const what = slopes() ? "per " + (t.unit || "unit of " + t.name) : "from the average";
      if (sums.length) rows.unshift({ head: "Families" }, ...sums.map(line), { head: "Topics" });
      into("effect-topics").replaceChildren(dots(W, [{ rows, axis: axisOf(what) }]));
      $("effect-topics-title").textContent = slopes() ? "Change of each topic with " + t.name : "Each topic at ";
      more.hidden = list.length <= few;
      more.textContent = all ? "Show the " + few + " strongest" : "Show all " + list.length;
    };
    const focusRow = (id) => {
      const g = into(id).querySelector(".row.on");
      if (g) g.focus();
    };

    // The points for a quantity: rows of levels, or curves along numbers and times.
    const groupsOf = (t) => {
      const groups = new Map();
      t.points.forEach((p, i) => {
        const key = t.kind === "interactions" ? p.labels[0] : "";
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(i);
      });
      // Of an interaction along x, a panel for each level of the other part.
      const list = [...groups].map(([name, points]) => ({ name, points }));
      if (list.length > 1 && list.every((g) => isNum(t.points[g.points[0]].x) && g.points.every((i) => t.points[i].x === t.points[g.points[0]].x))) {
        const others = new Map();
        t.points.forEach((p, i) => {
          if (!others.has(p.labels[1])) others.set(p.labels[1], []);
          others.get(p.labels[1]).push(i);
        });
        return [...others].map(([name, points]) => ({ name, points }));
      }
      return list;
    };
    const info = (s) => { $("effect-info").textContent = s; };
    const drawLevels = () => {
      const W = into("effect-levels").clientWidth, t = term, q = quantity;
      if (!W) return;
      $("effect-levels-title").textContent = t.kind === "numbers" ? "Along " + t.name : "Each " + t.name.replace(/ × /g, " and ") + " for ";
      quantitySelect.value = q;
      info("");
      const groups = groupsOf(t);
      if (isNum(t.points[0].x) && t.points.length > 1) {
        drawCurves(W, t, q, groups);
        return;
      }
      const rows = [], size = sizeOf(range(t.points.length).map((p) => fxOf(t.differences, p, q)));
      for (const g of groups) {
        if (g.name) rows.push({ head: g.name });
        const list = g.points.filter((p) => isNum(fxOf(t.differences, p, q).v) || t.points[p].few);
        const order = t.kind === "categories" || g.name ? by(list, (p) => fxOf(t.differences, p, q).v ?? -Infinity) : list;
        for (const p of order) {
          const x = t.points[p];
          rows.push(row(fxOf(t.differences, p, q), x, size, x.labels && g.name ? x.labels[1] : x.label, x.label + ", " + documents(x), p === point, () => { point = p; pointSelect.value = p; drawTopics(); drawLevels(); focusRow("effect-levels"); }));
        }
      }
      into("effect-levels").replaceChildren(dots(W, [{ rows, axis: axisOf("from the average") }]));
    };
    const drawCurves = (W, t, q, groups) => {
      const f = fxShare, timed = t.kind === "times" || t.points.some((p) => p.timed);
      for (const g of groups) g.list = g.points.map((p) => ({ x: t.points[p].x, part: t.points[p].incomplete, ...fxOf(t.predictions, p, q) }));
      const first = groups[0].points;
      const picture = curves(W, groups, {
        average: fxAverage(q),
        y: (v, step) => f(v, decimals(100 * step)) + " %",
        ticks: (xs, wide) => timed ? [0, first.length - 1].map((i, j) => [t.points[first[i]].x, endsIn(t, wide)[j]]) : ticks(...xs, clamp(Math.round(wide / 90), 2, 8)).map((v) => [v, show(v, 4)]),
      });
      picture.setAttribute("role", "img");
      picture.setAttribute("tabindex", 0);
      picture.setAttribute("aria-label", fxLong(q) + " along " + t.name + ": arrow keys go along it");
      const tell = (to, only) => {
        at = to;
        for (const g of groups) g.show(to === null ? null : Math.min(to, g.list.length - 1));
        info(to === null ? "" : groups.filter((g) => !only || g === only).map((g) => {
          const p = g.points[Math.min(to, g.points.length - 1)], x = fxOf(t.predictions, p, q);
          return (t.kind === "numbers" ? t.name + " " : "") + t.points[p].label + ": " + (isNum(x.v) ? f(x.v, 2) + " %" + spread(x, (v) => f(v, 2)) : fxUnknown(t.points[p]));
        }).join("; "));
      };
      pointed(picture, (e) => {
        const r = picture.getBoundingClientRect();
        for (const g of groups) {
          const near = g.near(e.clientX - r.left, e.clientY - r.top);
          if (near !== null) tell(near, g);
        }
      }, () => tell(null));
      picture.addEventListener("keydown", (e) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[e.key];
        if (!step) return;
        e.preventDefault();
        tell(clamp((at === null ? (step > 0 ? -1 : first.length) : at) + step, 0, first.length - 1));
      });
      at = null;
      into("effect-levels").replaceChildren(picture);
    };

    const fill = () => {
      const t = term;
      select.value = fx.terms.indexOf(t);
      $("effect-what").textContent = t.what;
      pointSelect.replaceChildren(...t.points.map((p, i) => el("option", { value: i }, p.label)));
      // The point with the largest difference that is not by chance.
      const sure = (p) => most(fxLiving().map((q) => fxOf(t.differences, p, q)).filter((x) => !doubtful(x)).map((x) => Math.min(Math.abs(x.lo), Math.abs(x.hi))), 0);
      point = by(range(t.points.length), sure)[0];
      pointSelect.value = point;
      $("effect-points").hidden = slopes();
      quantitySelect.replaceChildren(...fxLiving().concat(fxAsked()).map((q) => el("option", { value: q }, fxName(q))));
    };
    const draw = () => { fill(); drawTopics(); drawLevels(); };
    select.addEventListener("change", () => {
      term = fx.terms[select.value];
      draw();
    });
    pointSelect.addEventListener("change", () => { point = Number(pointSelect.value); drawTopics(); drawLevels(); });
    quantitySelect.addEventListener("change", () => { quantity = Number(quantitySelect.value); pick(quantity); drawTopics(); drawLevels(); });
    more.addEventListener("click", () => { all = !all; drawTopics(); });
    redraws.push(draw);
    onEdit.push(() => { quantity = fxPlace.get(topic) || 0; draw(); });
    const note = () => term.what + " Lines are intervals of " + percent(fx.level, 0) + "; hollow: the interval includes zero.";
    exportable($("effect-topics"), "effects on topics", { note: () => $("effect-topics-title").textContent + (slopes() ? "" : term.points[point].label) + ". " + note(), svg: () => into("effect-topics").firstChild });
    exportable($("effect-levels"), "effects on one topic", { note: () => fxName(quantity) + ". " + note(), svg: () => into("effect-levels").firstChild });
    onTopic.push(() => {
      if (fx.quantities[quantity].topic === topic || !fxPlace.has(topic)) return;
      quantity = fxPlace.get(topic);
      drawTopics();
      drawLevels();
    });
  }

  // The tables of effects, as tidy rows: what Effects.WriteCSV writes.
  if (fx) {
    document.querySelectorAll(".effect-table").forEach((node, i) => {
      const t = fx.terms[node.dataset.term];
      exportable(node.closest(".scroll"), "effects of " + t.title, { rows: () => {
        const out = [["term", "adjusted", "point", "quantity", "measure", "value", "low", "high", "withheld", "documents", "few", "incomplete"]];
        const add = (p, measure, at) => range(fx.quantities.length).forEach((q) => {
          const x = at(q);
          out.push([t.name, String(!!t.adjusted), p.label, fxName(q), measure, x.v, x.lo, x.hi, String(isNum(x.v) && !isNum(x.lo)), p.n, String(!!p.few), String(!!p.incomplete)]);
        });
        t.points.forEach((p, i) => {
          add(p, "prediction", (q) => fxOf(t.predictions, i, q));
          add(p, "difference", (q) => fxOf(t.differences, i, q));
        });
        if (t.slopes) add({ label: "", n: fx.documents }, "slope", (q) => fxOf(t.slopes, 0, q));
        return out;
      } });
    });
  }
