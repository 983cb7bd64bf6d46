  // ---- number of topics --------------------------------------------------------

  if (data.sweep) {
    const of = (key) => data.sweep.points.map((s) => s[key]), ks = of("k");
    chart("Topics that come back", "the share of topics that are sound and come back when other documents are held out (larger is better)", of("back"), false, "curves", ks, K);
    chart("NPMI", "how often the reading words of a topic meet, the mean over topics (larger is better)", of("npmi"), false, "curves", ks, K);
  }

  // The scores of documents held out, with the error of how far each is behind the best.
  if (data.sweep && data.sweep.recommended && data.sweep.points.length > 1) {
    const S = data.sweep, list = S.points.map((s) => ({ x: Math.log(s.k), v: s.score, lo: s.score - s.error, hi: s.score + s.error, ...s }));
    const box = $("heldout"), drawing = el("div"), info = el("p", { class: "info", role: "status" });
    let at = null;
    const told = (s) => "K = " + s.k + ": " + (s.behind > 0 ? show(s.behind, 2) + " ± " + show(s.error, 2) + " behind the best" : "the best, " + show(s.score, 4)) + "; " + percent(s.back, 0) + " of topics come back; " + s.why;
    const draw = () => {
      const W = Math.min(box.clientWidth, 960), H = 300, left = 52, right = 14, top = 44, low = 42;
      if (!W) return;
      const v = bounds(list.map((s) => s.v)), far = v[0] - 0.25 * (v[1] - v[0]);
      const domain = bounds(list.flatMap((s) => [Math.max(far, s.lo), s.hi]));
      const x = linear(...bounds(list.map((s) => s.x)), left + 14, W - right - 10), y = linear(...domain, H - low, top);
      const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, class: "plot heldout", tabindex: 0, role: "img", "aria-label": say("Scores of {documents} held out by number of topics: arrow keys go along them. The table below has the same.") });
      const half = list.length > 1 ? (i, j) => (x(list[i].x) + x(list[j].x)) / 2 : () => 0;
      const from = list.findIndex((s) => s.k >= S.low), to = list.findLastIndex((s) => s.k <= S.high), best = list.findIndex((s) => s.k === S.recommended);
      if (S.low < S.high) {
        const a = from > 0 ? half(from - 1, from) : x(list[from].x) - 8, b = to < list.length - 1 ? half(to, to + 1) : x(list[to].x) + 8;
        const says = S.low + " to " + S.high + " cannot be told apart", wide = widthOf(says, 12) / 2;
        picture.append(svg("rect", { class: "likely", x: a, y: top - 8, width: b - a, height: H - low - top + 8 }), text({ class: "tick", x: clamp((a + b) / 2, wide, W - wide), y: H - low + 34, "text-anchor": "middle" }, says));
      }
      const marks = ticks(...domain, 4), d = decimals(marks.length > 1 ? marks[1] - marks[0] : 1);
      for (const m of marks) picture.append(svg("line", { class: "grid", x1: left, x2: W - right, y1: y(m), y2: y(m) }), text({ class: "tick", x: left - 6, y: y(m) + 4, "text-anchor": "end" }, sign(m.toFixed(d))));
      picture.append(text({ class: "tick", x: 0, y: 14 }, say("Mean ln p of {a word} held out")));
      let end = -Infinity; // of the last number written below
      for (const s of [list[best], ...list]) {
        const wide = widthOf(String(s.k), 12) / 2 + 3, mid = x(s.x);
        if (s !== list[best] && (mid - wide < end || Math.abs(mid - x(list[best].x)) < wide + 12)) continue;
        picture.append(text({ class: s === list[best] ? "best" : "tick", x: mid, y: H - low + 17, "text-anchor": "middle" }, String(s.k)));
        if (s !== list[best]) end = mid + wide;
      }
      const clip = svg("clipPath", { id: "heldout-clip" }, svg("rect", { x: 0, y: top - 9, width: W, height: H - low - top + 12 }));
      const drawn = band(list, x, y);
      drawn.setAttribute("clip-path", "url(#heldout-clip)");
      picture.append(clip, svg("line", { class: "axis", x1: left, x2: W - right, y1: H - low, y2: H - low }), drawn);
      if (S.recommended !== K && list.some((s) => s.k === K)) {
        const here = x(Math.log(K));
        picture.append(svg("line", { class: "average", x1: here, x2: here, y1: top - 8, y2: H - low }), text({ class: "tick halo", x: here, y: top - 12, "text-anchor": "middle" }, "this model"));
      }
      const bx = x(list[best].x), by1 = y(list[best].v);
      picture.append(svg("line", { class: "zero", x1: bx, x2: bx, y1: top - 8, y2: H - low }), text({ class: "best halo", x: clamp(bx, 60, W - 60), y: top - (S.recommended !== K && Math.abs(bx - x(Math.log(K))) < 80 ? 24 : 12), "text-anchor": "middle" }, S.recommended + " recommended"));
      for (const s of list) if (y(s.v) <= H - low) picture.append(svg("circle", { class: "pt" + (s.k >= S.low && s.k <= S.high ? "" : " hollow"), cx: x(s.x), cy: y(s.v), r: 4 }));
      picture.append(svg("circle", { class: "spot", cx: bx, cy: by1, r: 5.5 }));
      const cursor = svg("line", { class: "cursor", y1: top - 8, y2: H - low });
      cursor.style.display = "none";
      picture.append(cursor);
      const tell = (i) => {
        at = i;
        cursor.style.display = i === null ? "none" : "";
        info.textContent = i === null ? "" : told(list[i]);
        if (i !== null) for (const k of ["x1", "x2"]) cursor.setAttribute(k, x(list[i].x));
      };
      pointed(picture, (e) => {
        const px = e.clientX - picture.getBoundingClientRect().left;
        tell(by(range(list.length), (i) => Math.abs(x(list[i].x) - px), true)[0]);
      }, () => tell(null));
      picture.addEventListener("keydown", (e) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[e.key];
        if (!step) return;
        e.preventDefault();
        tell(clamp((at === null ? best - (step > 0 ? 1 : -1) : at) + step, 0, list.length - 1));
      });
      drawing.replaceChildren(picture);
    };
    box.append(drawing, info, el("p", { class: "muted small key" }, "The band is one standard error of the distance to the best, up and down. Hollow points are not as good: they predict worse, or fewer topics come back. The axis of K is logarithmic."));
    exportable(box, "scores of documents held out", { svg: () => drawing.firstChild });
    redraws.push(draw);
  }
