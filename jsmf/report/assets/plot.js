  // ---- plots -------------------------------------------------------------------

  // ticks returns about n round numbers from lo to hi.
  const ticks = (lo, hi, n) => {
    if (!(hi > lo)) return [lo];
    const rough = (hi - lo) / n, ten = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= rough * 0.999);
    const out = [];
    for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) out.push(i * step);
    return out;
  };
  // bounds is the least and the greatest of numbers, and of those in least.
  const bounds = (list, least = []) => {
    let lo = Infinity, hi = -Infinity;
    for (const x of least.concat(list)) if (isNum(x)) [lo, hi] = [Math.min(lo, x), Math.max(hi, x)];
    return lo > hi ? [0, 1] : lo === hi ? [lo - 0.5, hi + 0.5] : [lo, hi];
  };
  const linear = (lo, hi, from, to) => (x) => from + (x - lo) / (hi - lo) * (to - from);
  const text = (props, s) => {
    const t = svg("text", props);
    t.textContent = s;
    return t;
  };
  const titled = (s, ...of) => {
    const t = svg("title");
    t.textContent = s;
    of[0].prepend(t);
    return of[0];
  };
  // fitted cuts a text to a width in a font of size pixels.
  const ruler = document.createElement("canvas").getContext("2d");
  const widthOf = (s, size, weight = 400) => {
    ruler.font = weight + " " + size + "px " + css("--sans");
    return ruler.measureText(s).width;
  };
  const fitted = (s, wide, size, weight) => {
    if (widthOf(s, size, weight) <= wide) return s;
    const c = [...s];
    let lo = 0, hi = c.length;
    while (lo < hi) {
      const at = (lo + hi + 1) >> 1;
      if (widthOf(c.slice(0, at).join("").trimEnd() + "…", size, weight) <= wide) lo = at;
      else hi = at - 1;
    }
    return c.slice(0, lo).join("").trimEnd() + "…";
  };
  // decimals is how many decimals distinguish a number from its neighbours at a step.
  const decimals = (step) => clamp(-Math.floor(Math.log10(Math.abs(step) || 1) + 1e-9), 0, 6);

  // band draws an estimate with its interval along x. list holds { x, v, lo, hi, part };
  // where v is no number the line breaks, and to parts it is dashed.
  const band = (list, x, y, cls = "") => {
    const g = svg("g", { class: "band " + cls });
    const at = (p, v) => x(p.x).toFixed(1) + " " + y(v).toFixed(1);
    const runs = [[]];
    for (const p of list) {
      if (isNum(p.v)) runs[runs.length - 1].push(p);
      else if (runs[runs.length - 1].length) runs.push([]);
    }
    for (const run of runs) {
      const sure = run.filter((p) => isNum(p.lo) && isNum(p.hi));
      if (sure.length > 1) g.append(svg("path", { class: "area", d: "M" + sure.map((p) => at(p, p.hi)).join("L") + "L" + sure.slice().reverse().map((p) => at(p, p.lo)).join("L") + "Z" }));
      else if (sure.length === 1) g.append(svg("path", { class: "area alone", d: "M" + at(sure[0], sure[0].lo) + "L" + at(sure[0], sure[0].hi) }));
      const d = ["", ""]; // whole and dashed
      let last = -1;
      run.forEach((p, i) => {
        if (!i) return;
        const kind = Number(!!(p.part || run[i - 1].part));
        d[kind] += (kind === last ? "" : "M" + at(run[i - 1], run[i - 1].v)) + "L" + at(p, p.v);
        last = kind;
      });
      if (d[0]) g.append(svg("path", { class: "line", d: d[0] }));
      if (d[1]) g.append(svg("path", { class: "line dashed", d: d[1] }));
      run.forEach((p) => {
        if (p.part || run.length === 1 || p.dot) g.append(svg("circle", { class: "pt" + (p.part ? " hollow" : ""), cx: x(p.x).toFixed(1), cy: y(p.v).toFixed(1), r: 3 }));
      });
    }
    return g;
  };

  // rove lets the arrow keys go through parts of a drawing, one of which Tab reaches.
  // step says how far each key goes; keys that it does not know are left to other.
  const rove = (parts, step, pick, other = () => false) => {
    parts.forEach((g, i) => {
      g.setAttribute("tabindex", i ? -1 : 0);
      g.addEventListener("focus", () => parts.forEach((h) => h.setAttribute("tabindex", h === g ? 0 : -1)));
      g.addEventListener("click", () => pick(i));
      g.addEventListener("keydown", (e) => {
        if (e.key === "Enter" || e.key === " ") pick(i);
        else if (e.key in step) parts[clamp(i + step[e.key], 0, parts.length - 1)].focus();
        else if (!other(e, i)) return;
        e.preventDefault();
      });
    });
  };

  // pointed calls over where a mouse or a finger is on a drawing, and out when the mouse
  // leaves it; what a finger has chosen stays.
  const pointed = (picture, over, out) => {
    for (const event of ["pointermove", "pointerdown"]) picture.addEventListener(event, over);
    picture.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse") out(); });
  };
