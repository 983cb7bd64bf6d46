  // ---- map of documents --------------------------------------------------------

  // readDocument opens the reading pane; lists and the map both do.
  let readDocument = null;

  if (docs) {
    const plane = $("documents-plane"), tip = $("documents-tip"), info = $("documents-info");
    const { count, x, y, own, is, inHue } = docs;
    let view = { x: 0, y: 0, zoom: 1 };
    let at = -1; // the document below the pointer, or that of the arrow keys
    let lasso = null, drawing = false; // corners, and whether the next drag draws
    const base = document.createElement("canvas"); // all points, without what is written over them
    const extent = [1e-6, 1e-6], middle = [0, 0];
    for (const [axis, v] of [[0, x], [1, y]]) {
      let lo = Infinity, hi = -Infinity;
      for (const u of v) { lo = Math.min(lo, u); hi = Math.max(hi, u); }
      extent[axis] = Math.max(1e-6, (hi - lo) / 2);
      middle[axis] = (hi + lo) / 2;
    }
    // As on the map of words the axes have scales of their own, one at most half as
    // large again as the other.
    const scales = () => {
      const sx = 0.5 * (plane.clientWidth - 48) / extent[0], sy = 0.5 * (plane.clientHeight - 48) / extent[1];
      return [Math.min(sx, 1.5 * sy) * view.zoom, Math.min(sy, 1.5 * sx) * view.zoom];
    };
    const toScreen = (px, py) => {
      const [sx, sy] = scales();
      return [plane.clientWidth / 2 + (px - middle[0] - view.x) * sx, plane.clientHeight / 2 - (py - middle[1] - view.y) * sy];
    };
    const toPlace = (px, py) => {
      const [sx, sy] = scales();
      return [(px - plane.clientWidth / 2) / sx + middle[0] + view.x, (plane.clientHeight / 2 - py) / sy + middle[1] + view.y];
    };

    // ---- near ------------------------------------------------------------------

    // Documents by squares of a grid, one after the other.
    const G = 256, start = new Uint32Array(G * G + 1), inGrid = new Uint32Array(count);
    const cell = (u) => clamp(Math.floor((u + 0.5) * G), 0, G - 1);
    for (let i = 0; i < count; i++) start[cell(y[i]) * G + cell(x[i]) + 1]++;
    for (let c = 0; c < G * G; c++) start[c + 1] += start[c];
    {
      const next = start.slice();
      for (let i = 0; i < count; i++) inGrid[next[cell(y[i]) * G + cell(x[i])]++] = i;
    }
    // nearest returns the document nearest to a place on the screen, among those chosen,
    // within r pixels.
    const nearest = (px, py, r = 12) => {
      const [sx, sy] = scales(), [mx, my] = toPlace(px, py);
      let best = -1, least = r * r;
      for (let cy = cell(my - r / sy); cy <= cell(my + r / sy); cy++) {
        for (let cx = cell(mx - r / sx); cx <= cell(mx + r / sx); cx++) {
          for (let j = start[cy * G + cx]; j < start[cy * G + cx + 1]; j++) {
            const i = inGrid[j], d = ((x[i] - mx) * sx) ** 2 + ((y[i] - my) * sy) ** 2;
            if (is[i] && d < least) [best, least] = [i, d];
          }
        }
      }
      return best;
    };

    // ---- drawing ---------------------------------------------------------------

    const rgb = (c) => {
      const m = c.match(/^#(..)(..)(..)$/);
      return m.slice(1).map((h) => parseInt(h, 16));
    };
    // disc returns how much of each pixel around its middle a disc covers, in 256ths.
    const disc = (r) => {
      const half = Math.ceil(r), out = [];
      for (let dy = -half; dy <= half; dy++) for (let dx = -half; dx <= half; dx++) {
        const a = clamp(r + 0.5 - Math.hypot(dx, dy), 0, 1);
        if (a > 0) out.push([dx, dy, Math.round(256 * a)]);
      }
      return out;
    };
    // Points are written one pixel at a time, which is as fast in all browsers, and in an
    // order that is as good as random, so that none is above the others.
    let stride = Math.max(1, Math.round(count * 0.618));
    for (const gcd = (a, b) => b ? gcd(b, a % b) : a; gcd(stride, count) > 1;) stride++;
    const drawPoints = () => {
      const w = plane.clientWidth, h = plane.clientHeight, ratio = devicePixelRatio || 1;
      const W = base.width = Math.round(w * ratio), H = base.height = Math.round(h * ratio);
      const c = base.getContext("2d");
      const image = c.createImageData(W, H), px = image.data;
      const radius = clamp(3.3 * (2000 / count) ** 0.25, 1.2, 5) * Math.min(2.2, Math.sqrt(view.zoom)) * Math.min(1, Math.sqrt(w / 700)) * ratio;
      const some = docs.state.chosen < count, card = rgb(css("--card"));
      const palette = range(9).map((q) => rgb(docs.hueColour(q)));
      const [sx, sy] = scales(), ox = w / 2 - (middle[0] + view.x) * sx, oy = h / 2 + (middle[1] + view.y) * sy;
      px.set([...card, 255]);
      for (let j = 4; j < px.length; j *= 2) px.copyWithin(j, 0, j);
      const pass = (wanted, r, alpha, plain) => {
        const mask = disc(r), edge = Math.ceil(r) + 1;
        for (let j = 0, i = 0; j < count; j++, i = (i + stride) % count) {
          if (some && is[i] !== wanted) continue;
          const X = Math.round((ox + x[i] * sx) * ratio), Y = Math.round((oy - y[i] * sy) * ratio);
          if (X < edge || Y < edge || X >= W - edge || Y >= H - edge) continue;
          const [R, G, B] = plain || palette[inHue[i]], a0 = alpha * (plain || inHue[i] ? 1 : docs.colour.ramp ? 0.3 : 0.7);
          for (const [dx, dy, cover] of mask) {
            const p = 4 * ((Y + dy) * W + X + dx), a = cover * a0 / 256;
            px[p] += (R - px[p]) * a;
            px[p + 1] += (G - px[p + 1]) * a;
            px[p + 2] += (B - px[p + 2]) * a;
          }
        }
      };
      if (some) pass(0, radius * 0.8, 0.35, card.map((v, q) => Math.round((v + rgb(css("--dot"))[q]) / 2)));
      pass(1, radius, 0.8);
      c.putImageData(image, 0, 0);
    };
    // Names of topics are at their places.
    const names = (c, w, h) => {
      const size = new Uint32Array(K);
      for (const k of own) if (k >= 0) size[k]++;
      const taken = [];
      c.textBaseline = "middle";
      c.lineJoin = "round";
      c.lineWidth = 6;
      for (const k of by(range(K).filter((k) => size[k]), (k) => k === topic ? 1e9 : size[k])) {
        const text = atMost(view.zoom > 1.5 ? label(k) : label(k).split(" · ").slice(0, 2).join(" · "), 40) + (docs.colour.by === 0 ? lettered(k) : "");
        c.font = (k === topic ? "700" : "500") + " 13px " + css("--sans");
        const tw = c.measureText(text).width, [px, py] = toScreen(docs.places[2 * k] / 65535 - 0.5, docs.places[2 * k + 1] / 65535 - 0.5);
        if (px < 0 || py < 0 || px > w || py > h) continue;
        const left = clamp(px - tw / 2, 4, Math.max(4, w - tw - 4));
        const y = [py, py + 16, py - 16].map((y) => clamp(y, 11, h - 11)).find((y) => !taken.some((t) => left < t[2] + 8 && left + tw > t[0] - 8 && y - 9 < t[3] + 2 && y + 9 > t[1] - 2));
        if (y === undefined) continue;
        taken.push([left, y - 9, left + tw, y + 9]);
        c.strokeStyle = css("--card");
        c.strokeText(text, left, y);
        c.fillStyle = css(data.topics[k].background ? "--muted" : "--ink");
        c.fillText(text, left, y);
      }
    };
    const atMost = (s, n) => [...s].length > n ? [...s].slice(0, n - 1).join("").trimEnd() + "…" : s;
    let stale = true; // the points
    const draw = () => {
      const w = plane.clientWidth, h = plane.clientHeight;
      if (!w || !h) return;
      if (stale) drawPoints();
      stale = false;
      const ratio = devicePixelRatio || 1;
      plane.width = base.width;
      plane.height = base.height;
      const c = plane.getContext("2d");
      c.drawImage(base, 0, 0);
      c.scale(ratio, ratio);
      const line = (corners, closed) => {
        c.beginPath();
        corners.forEach(([a, b], j) => j ? c.lineTo(...toScreen(a, b)) : c.moveTo(...toScreen(a, b)));
        if (closed) c.closePath();
        c.lineWidth = 1.5;
        c.setLineDash([5, 4]);
        c.strokeStyle = css("--ink");
        c.stroke();
        c.setLineDash([]);
      };
      names(c, w, h);
      if (docs.wanted.area && !lasso) line(docs.wanted.area, true);
      if (lasso) line(lasso);
      const ring = (i, colour, r) => {
        const [px, py] = toScreen(x[i], y[i]);
        c.beginPath();
        c.arc(px, py, r, 0, 7);
        c.lineWidth = 2.5;
        c.strokeStyle = colour;
        c.stroke();
      };
      if (plane.dataset.open) ring(Number(plane.dataset.open), css("--anchor"), 8);
      if (at >= 0) ring(at, css("--ink"), 6);
      plane.dataset.drawn = String(1 + Number(plane.dataset.drawn || 0));
    };
    const drawSoon = frame(draw);
    const redraw = () => { stale = true; drawSoon(); };

    // ---- moving ----------------------------------------------------------------

    const still = () => {
      view.x = clamp(view.x, -extent[0], extent[0]);
      view.y = clamp(view.y, -extent[1], extent[1]);
      plane.dataset.view = [view.zoom.toFixed(3), view.x.toFixed(4), view.y.toFixed(4)].join(" ");
      plane.style.touchAction = drawing || view.zoom > 1 ? "none" : "";
      point(-1);
      redraw();
    };
    const zoomBy = (f, px = plane.clientWidth / 2, py = plane.clientHeight / 2) => {
      const [mx, my] = toPlace(px, py); // stays where it is
      view.zoom = clamp(view.zoom * f, 1, 80);
      const [nx, ny] = toPlace(px, py);
      view.x += mx - nx;
      view.y += my - ny;
      if (view.zoom === 1) view.x = view.y = 0;
      still();
    };
    const pan = (dx, dy) => {
      const [sx, sy] = scales();
      view.x -= dx / sx;
      view.y += dy / sy;
      still();
    };
    const reset = () => { view = { x: 0, y: 0, zoom: 1 }; still(); };
    const intoView = (i) => {
      const [px, py] = toScreen(x[i], y[i]), w = plane.clientWidth, h = plane.clientHeight;
      if (px > 10 && py > 10 && px < w - 10 && py < h - 10) return;
      view.x = x[i] - middle[0];
      view.y = y[i] - middle[1];
      still();
    };
    const said = (i) => own[i] < 0 ? "no topic has a part of it" : label(own[i]) + ", " + percent(docs.share(i, own[i]), 0);
    const point = (i) => {
      if (i === at) return;
      at = i;
      plane.dataset.at = String(i);
      plane.classList.toggle("over", i >= 0);
      tip.hidden = i < 0;
      if (i >= 0) {
        tip.replaceChildren(el("b", { dir: "auto" }, docs.title(i)), el("span", { dir: "auto" }, said(i)));
        const [px, py] = toScreen(x[i], y[i]);
        const left = clamp(px - tip.offsetWidth / 2, 4, Math.max(4, plane.clientWidth - tip.offsetWidth - 4));
        const top = py - tip.offsetHeight - 14 > 2 ? py - tip.offsetHeight - 14 : py + 16;
        tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
      }
      drawSoon();
    };
    // walkTo goes to the nearest document in a direction that can be told from this one.
    const walkTo = (dx, dy) => {
      const w = plane.clientWidth, h = plane.clientHeight;
      const [px, py] = at < 0 ? [w / 2, h / 2] : toScreen(x[at], y[at]);
      let best = -1, least = Infinity;
      for (let i = 0; i < count; i++) {
        if (!is[i] || i === at) continue;
        const [qx, qy] = toScreen(x[i], y[i]), along = (qx - px) * dx + (qy - py) * dy, across = Math.abs((qx - px) * dy) + Math.abs((qy - py) * dx);
        const far = at < 0 ? Math.hypot(qx - px, qy - py) : along < 8 ? Infinity : along + 2 * across;
        if (far < least) [best, least] = [i, far];
      }
      if (best < 0) return;
      intoView(best);
      point(best);
      info.textContent = docs.title(best) + ": " + said(best);
    };
    plane.addEventListener("keydown", (e) => {
      const d = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (d && e.shiftKey) pan(-60 * d[0], -60 * d[1]);
      else if (d) walkTo(...d);
      else if (e.key === "+" || e.key === "=") zoomBy(1.5);
      else if (e.key === "-") zoomBy(1 / 1.5);
      else if (e.key === "0" || e.key === "Home") reset();
      else if (e.key === "Escape" && (drawing || lasso)) draws(false);
      else if ((e.key === "Enter" || e.key === " ") && at >= 0) readDocument(at, true);
      else return;
      e.preventDefault();
    });
    plane.addEventListener("blur", () => point(-1));
    plane.addEventListener("wheel", (e) => {
      if (document.activeElement !== plane && !e.ctrlKey) return; // the page scrolls
      e.preventDefault();
      zoomBy(Math.exp(-clamp(e.deltaY, -300, 300) / 400), e.offsetX, e.offsetY);
    }, { passive: false });
    $("documents-in").addEventListener("click", () => zoomBy(1.5));
    $("documents-out").addEventListener("click", () => zoomBy(1 / 1.5));
    $("documents-reset").addEventListener("click", reset);

    // ---- areas -----------------------------------------------------------------

    const draws = (on) => {
      drawing = on;
      lasso = null;
      $("documents-lasso").setAttribute("aria-pressed", String(on));
      plane.classList.toggle("drawing", on);
      still();
    };
    $("documents-lasso").addEventListener("click", () => draws(!drawing));
    $("documents-view").addEventListener("click", () => {
      const [l, t] = toPlace(0, 0), [r, b] = toPlace(plane.clientWidth, plane.clientHeight);
      docs.wanted.area = [[l, t], [r, t], [r, b], [l, b]];
      docs.soon();
    });
    const pointers = new Map();
    plane.addEventListener("pointerdown", (e) => {
      plane.focus({ preventScroll: true });
      plane.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, [e.offsetX, e.offsetY, e.offsetX, e.offsetY]);
      if (pointers.size === 1 && (drawing || e.shiftKey)) lasso = [toPlace(e.offsetX, e.offsetY)];
      else lasso = null;
    });
    plane.addEventListener("pointermove", (e) => {
      const p = pointers.get(e.pointerId);
      if (!p) {
        if (!drawing) point(nearest(e.offsetX, e.offsetY));
        return;
      }
      if (lasso) {
        if (Math.hypot(e.offsetX - p[0], e.offsetY - p[1]) < 3) return;
        lasso.push(toPlace(e.offsetX, e.offsetY));
        drawSoon();
      } else if (pointers.size === 1 && Math.hypot(e.offsetX - p[2], e.offsetY - p[3]) > 4) {
        pan(e.offsetX - p[0], e.offsetY - p[1]);
      }
      const others = [...pointers].filter(([id]) => id !== e.pointerId);
      if (others.length === 1) { // two fingers
        const o = others[0][1], far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
        zoomBy(far([e.offsetX, e.offsetY], o) / Math.max(1, far(p, o)), (e.offsetX + o[0]) / 2, (e.offsetY + o[1]) / 2);
      }
      p[0] = e.offsetX;
      p[1] = e.offsetY;
    });
    const up = (e) => {
      const p = pointers.get(e.pointerId);
      pointers.delete(e.pointerId);
      if (!p || e.type !== "pointerup") {
        lasso = null;
        return;
      }
      if (lasso) {
        const area = lasso;
        draws(false);
        if (area.length > 2) {
          docs.wanted.area = area;
          docs.soon();
          return;
        }
      }
      if (Math.hypot(e.offsetX - p[2], e.offsetY - p[3]) > 4) return;
      const i = nearest(e.offsetX, e.offsetY, e.pointerType === "touch" ? 22 : 12); // a click
      point(i);
      if (i >= 0) readDocument(i, false);
    };
    plane.addEventListener("pointerup", up);
    plane.addEventListener("pointercancel", up);
    plane.addEventListener("pointerleave", () => point(-1));

    // ---- colours ---------------------------------------------------------------

    const colourBy = $("documents-colour"), legend = $("documents-legend");
    colourBy.append(...docs.fields.map((f, i) => el("option", { value: i, dir: "auto" }, f.name)), el("option", { value: -1 }, "share of the chosen topic"));
    const tellColours = () => {
      const f = docs.fields[docs.colour.by], on = docs.wanted.levels.get(docs.colour.by);
      legend.replaceChildren(...docs.colour.legend.map((l) => {
        const dot = el("i", { class: "hue", "aria-hidden": "true" });
        dot.style.background = docs.hueColour(l.hue);
        const text = el("span", { dir: "auto" }, l.text());
        return el("li", {}, l.level === undefined ? el("span", { class: "swatch" }, dot, text) :
          el("button", { type: "button", "aria-pressed": String(!!on && on.has(l.level)), title: "Only these: " + f.has[l.level], onclick: () => docs.toggle(docs.colour.by, l.level) }, dot, text));
      }));
      plane.setAttribute("aria-label", "Map of " + count + say(" {documents}, chosen: ") + docs.many() + ", coloured by " + (f ? f.name : "the share of " + name(topic)) +
        say(". Arrow keys go from one {document} to the next, Enter reads it, Shift and arrows move, plus and minus zoom, 0 shows all. The list next to it has the {documents} as text."));
    };
    const paint = () => {
      docs.paint();
      tellColours();
      redraw();
      for (const f of docs.onColour) f();
    };
    colourBy.addEventListener("change", () => { docs.colour.by = Number(colourBy.value); paint(); });
    docs.onChosen.push(() => { point(-1); tellColours(); redraw(); });
    docs.onRead.push((i) => {
      if (i < 0) delete plane.dataset.open;
      else {
        plane.dataset.open = String(i);
        intoView(i);
      }
      drawSoon();
    });
    onTopic.push(() => { if (docs.colour.by < 0) paint(); else drawSoon(); });
    onEdit.push(() => { docs.edited(); drawSoon(); });
    redraws.push(() => { stale = true; tellColours(); draw(); });
    exportable($("documents-map"), say("map of {documents}"), { canvas: () => plane, note: () => docs.many() + (docs.why() ? ", " + docs.why() : "") + ", coloured by " + (docs.fields[docs.colour.by] || { name: "the share of " + label(topic) }).name + ".", legend: () => docs.colour.legend.map((l) => [docs.hueColour(l.hue), l.text()]) });
    plane.dataset.at = "-1";
    docs.paint();
    reset();
  }
