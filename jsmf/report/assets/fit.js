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
