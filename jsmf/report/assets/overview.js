  // ---- overview ----------------------------------------------------------------

  {
    // bars draws rows { label, v, lo, hi, said, faint, aria, pick }, of which the first are as
    // long as the width allows, with their intervals. Rows that can be picked are walked by keys.
    const bars = (W, rows, tall = 26) => {
      const size = tall > 20 ? 13.5 : 12;
      const said = Math.max(...rows.map((r) => widthOf(r.said, 12))) + 8;
      const left = Math.min(0.42 * W, 12 + Math.max(...rows.map((r) => widthOf(r.label, size, 600))));
      const [lo, hi] = bounds(rows.flatMap((r) => [r.v, r.lo, r.hi]), [0]);
      const x = linear(lo, hi, left, Math.max(W - said - 4, left + 20)), mid = tall / 2;
      const picture = svg("svg", { class: "plot ranks", viewBox: `0 0 ${W} ${rows.length * tall}`, width: W, height: rows.length * tall });
      const parts = rows.map((r, i) => {
        const g = svg("g", { class: "row" + (r.faint ? " faint" : "") + (r.on ? " on" : ""), transform: `translate(0 ${i * tall})` }, svg("rect", { class: "ground", width: W, height: tall, rx: 4 }),
          text({ class: "label", x: left - 8, y: mid + 4.5, "text-anchor": "end" }, fitted(r.label, left - 10, size, 600)),
          ...(r.faint ? [svg("circle", { class: "doubted", cx: 7, cy: mid, r: 4 })] : []),
          svg("rect", { class: "bar", x: Math.min(x(0), x(r.v)), y: 0.24 * tall, width: Math.max(1, Math.abs(x(r.v) - x(0))), height: 0.52 * tall, rx: 1.5 }),
          text({ class: "value", x: W - 2, y: mid + 4, "text-anchor": "end" }, r.said));
        g.children[1].style.fontSize = size + "px"; // the policy forbids the attribute
        if (isNum(r.lo) && isNum(r.hi)) g.append(svg("line", { class: "whisker", x1: x(r.lo), x2: x(r.hi), y1: mid, y2: mid }));
        if (r.pick) {
          g.setAttribute("role", "button");
          titled(r.aria, g);
        }
        return g;
      });
      if (rows[0].pick) rove(parts, { ArrowUp: -1, ArrowDown: 1, Home: -parts.length, End: parts.length }, (i) => rows[i].pick());
      picture.append(...parts);
      return picture;
    };

    // The largest topics, or groups of them where these are drawn.
    const shown = 10, box = $("largest");
    const drawLargest = () => {
      if (!box.clientWidth) return;
      const list = by(M.topics, shareOf).slice(0, shown);
      const rows = list.map((k) => {
        const u = k < K && data.topics[k].doubt, [lo, hi] = u ? u.share : [null, null], doubt = k < K ? doubtOf(k) : "";
        const said = percent(shareOf(k)) + (isNum(lo) && isNum(hi) ? " (" + percent(lo).replace(" %", "") + " to " + percent(hi).replace(" %", "") + ")" : "");
        return { label: label(k), v: shareOf(k), lo, hi, said, faint: doubt, on: k === drawnOf(topic), aria: (k < K ? "Topic " + k : name(k)) + ", " + label(k) + " " + said + (doubt ? ", " + doubt : ""), pick: () => open(k) };
      });
      box.replaceChildren(bars(box.clientWidth, rows));
      $("largest-title").textContent = (list.length < M.topics.length ? "The " + list.length + " largest of " + M.topics.length : "All " + list.length) + (list[0] < K ? " topics" : " groups of topics") + say(", by their part of {a document}");
    };
    exportable($("largest-box"), "shares of topics", { svg: () => box.firstChild, note: () => $("largest-title").textContent + (data.uncertainty ? ". Lines are intervals of " + percent(data.uncertainty.level, 0) : "") + ".", rows: () => [["topic", "name", "share", "low", "high"], ...shareOrder.map((k) => [k, label(k), shareOf(k), ...(data.topics[k].doubt ? data.topics[k].doubt.share : [null, null])])] });

    // The findings: names of topics are links to them, and numbers have a small picture.
    const items = [...document.querySelectorAll("#findings li")], first = data.topics.map((t) => t.name);
    const marked = (p) => {
      const head = p.firstChild, parts = head.textContent.split(/“([^”]*)”/);
      head.replaceWith(...parts.flatMap((s, i) => {
        const k = i % 2 ? first.indexOf(s) : -1;
        return k < 0 ? [i % 2 ? "“" + s + "”" : s] : [el("a", { href: "#topic-" + k, class: "name", "data-name": k }, s)];
      }));
    };
    items.forEach((li) => marked(li.firstChild));
    const spots = items.map((li) => li.appendChild(el("div", { class: "spark", "aria-hidden": "true" })));
    const drawFindings = () => spots.forEach((spot, at) => {
      const f = data.findings[at], W = Math.min(spot.clientWidth, 460);
      if (!W || !f.curves || f.place === "#topics") {
        spot.hidden = true; // the largest topics are drawn beside
        return;
      }
      const points = (c) => range(f.labels.length).map((i) => ({ x: i, v: c.values[i].value, lo: c.values[i].low, hi: c.values[i].high }));
      if (f.place !== "#time") {
        const write = f.place === "#effects" ? percent : signed;
        spot.replaceChildren(bars(W, points(f.curves[0]).map((p, i) => ({ ...p, label: f.place === "#correlations" ? f.labels[i].split(" – ").map((s) => s.split(" · ")[0]).join(" – ") : f.labels[i], said: write(p.v) })).filter((p) => isNum(p.v)).sort((a, b) => b.v - a.v).slice(0, 6), 19));
        return;
      }
      const high = 64, names = f.curves.map((c) => fitted(c.name.split(" · ")[0], 0.3 * W, 12)), right = 10 + Math.max(...names.map((s) => widthOf(s, 12)));
      const lists = f.curves.map(points), x = linear(...bounds(range(f.labels.length)), 4, W - right);
      const y = linear(...bounds(lists.flat().flatMap((p) => [p.v]), [0]), high, 6);
      const picture = svg("svg", { class: "plot", viewBox: `0 0 ${W} ${high + 18}`, width: W, height: high + 18 }, svg("line", { class: "axis", x1: 4, x2: W - right, y1: high, y2: high }));
      const ends = lists.map((l) => l.findLast((p) => isNum(p.v)));
      lists.forEach((l, i) => {
        picture.append(band(l.map((p) => ({ ...p, lo: null, hi: null })), x, y, i ? "second" : ""));
        const apart = i && Math.abs(y(ends[0].v) - y(ends[1].v)) < 13 ? (ends[1].v > ends[0].v ? -13 : 13) : 0; // no name over another
        picture.append(text({ class: "end" + (i ? " second" : ""), x: x(ends[i].x) + 7, y: y(ends[i].v) + 4 + apart }, names[i]));
      });
      picture.append(text({ class: "tick", x: 4, y: high + 14 }, fitted(f.labels[0], (W - right) / 2, 11)), text({ class: "tick", x: W - right, y: high + 14, "text-anchor": "end" }, fitted(f.labels[f.labels.length - 1], (W - right) / 2, 11)));
      spot.replaceChildren(picture);
    });
    redraws.push(drawLargest, drawFindings);
    onEdit.push(drawLargest, () => document.querySelectorAll("[data-name]").forEach((a) => { a.textContent = label(into(Number(a.dataset.name))); }));
    onTopic.push(frame(drawLargest));
  }
