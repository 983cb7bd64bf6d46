  // ---- map ---------------------------------------------------------------------

  const plane = $("plane"), find = $("find");
  let count, placeOfWord, anchors, weight, heaviest, bigFirst, extent;
  let view = { x: 0, y: 0, zoom: 1 };
  let found = new Set(), hover = -1;
  const P = data.map;
  const takeMap = () => {
    count = P.words.length;
    placeOfWord = new Map(P.words.map((w, i) => [w, i]));
    anchors = new Map(); // place → topic
    data.topics.forEach((t, k) => { if (t.anchor >= 0 && placeOfWord.has(t.anchor)) anchors.set(placeOfWord.get(t.anchor), into(k)); });
    weight = P.words.map((w) => data.p[w]);
    heaviest = most(weight, 1e-300);
    bigFirst = by(range(count), (i) => weight[i]);
    extent = [most(P.x.map(Math.abs), 0.01), most(P.y.map(Math.abs), 0.01)];
    $("map-about").textContent = count + say(" {words}, placed by principal components of what they occur with") + (anchors.size ? ". The anchors are the corners of their world." : ".");
  };
  takeMap();
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
    if (w) paintMap(sized(plane, w, h), w, h);
  };
  const paintMap = (c, w, h) => {
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
      info.replaceChildren(el("b", { dir: "auto" }, words[P.words[hover]]), (k === undefined ? "" : ", anchor of " + label(k)) + ": " + homes(P.words[hover]) + ".");
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
      info.textContent = list.length + say(" {words}: ") + list.slice(0, 12).map((i) => words[P.words[i]]).join(", ") + (list.length > 12 ? ", …" : "");
    } else {
      info.textContent = say("No such {word} on the map.");
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
  $("map-info").before(exportable($("map"), say("map of {words}"), { canvas: () => plane, paint: paintMap, note: () => $("map-about").textContent, rows: () => [[say("{word}"), "x", "y", say("p({word})"), "anchor of topic"],
    ...range(count).map((i) => [words[P.words[i]], P.x[i], P.y[i], weight[i], anchors.has(i) ? anchors.get(i) : ""])] }));
  onEdit.push(() => {
    takeMap();
    search();
  });
  redraws.push(drawMap);
  onTopic.push(drawMapSoon);
  slider.addEventListener("input", drawMapSoon);
  plane.dataset.zoom = "1.000";
