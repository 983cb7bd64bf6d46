  // ---- overview ----------------------------------------------------------------

  {
    const ribbon = $("ribbon"), high = 72;
    let blocks = [], picture = null;
    const drawRibbon = () => {
      const wide = ribbon.clientWidth;
      if (!wide) return;
      const shown = by(M.topics, (k) => thing(k).share).filter((k) => thing(k).share > 0);
      const all = sum(shown.map((k) => thing(k).share)), gap = Math.min(2, wide / shown.length / 3);
      picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": "Shares of the topics, the largest first: " +
        shown.slice(0, 5).map((k) => label(k) + " " + percent(thing(k).share)).join(", ") + (shown.length > 5 ? " and others, listed below" : "") });
      let x = 0;
      blocks = shown.map((k) => {
        const w = thing(k).share / all * wide;
        const title = svg("title");
        title.textContent = name(k) + ", " + percent(thing(k).share) + ": " + label(k);
        const g = svg("g", { "data-k": k }, svg("rect", { x: x.toFixed(2), y: 0, width: Math.max(w - gap, 0.5).toFixed(2), height: high, rx: 2 }), title);
        g.addEventListener("click", () => open(k));
        picture.append(g);
        x += w;
        return g;
      });
      ribbon.replaceChildren(picture);
      // As many words of each name as fit, one below the other, or the first one upright.
      let at = 0;
      shown.forEach((k, i) => {
        const w = thing(k).share / all * wide - gap, names = label(k).split(" · ").slice(0, 3);
        const fits = (word, x, y, upright, room) => {
          const t = svg("text", { class: "no", x: x.toFixed(2), y: y.toFixed(2), ...(upright ? { transform: `rotate(-90 ${x.toFixed(2)} ${y.toFixed(2)})` } : {}) });
          t.textContent = word;
          blocks[i].append(t);
          if (t.getComputedTextLength() <= room) return true;
          t.remove();
          return false;
        };
        if (w < 16 || !fits(names[0], at + 6, 19, false, w - 12)) {
          if (w >= 16) fits(names[0], at + w / 2 + 4, high - 6, true, high - 12);
        } else {
          names.slice(1).every((word, line) => fits(word, at + 6, 36 + 17 * line, false, w - 12));
        }
        at += w + gap;
      });
      markRibbon();
      $("ribbon-key").textContent = "The largest: " + shown.slice(0, 3).map((k) => label(k) + " " + percent(thing(k).share)).join("; ") + ".";
    };
    const markRibbon = () => blocks.forEach((b) => b.classList.toggle("on", Number(b.dataset.k) === drawnOf(topic)));
    exportable(ribbon.parentElement, "shares of topics", { svg: () => picture, rows: () => [["topic", "name", "share"], ...shareOrder.map((k) => [k, label(k), thing(k).share])] });
    redraws.push(drawRibbon);
    onEdit.push(drawRibbon);
    onTopic.push(markRibbon);
  }
