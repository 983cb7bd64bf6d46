  // ---- map of topics -----------------------------------------------------------

  {
    const T = data.topicmap, W = T.width, H = T.height, pad = 26;
    const spot = (k) => k - T.topics[0];
    const radius = (share) => Math.max(T.least, T.scale * Math.sqrt(Math.max(0, share) || 0));
    // ring draws an interval of shares as a ring, the more broken the less stable the topic.
    const ring = (x, y, low, high, stability) => {
      const r = (low + high) / 2, length = 2 * Math.PI * r / 12;
      const c = svg("circle", { class: "ring", cx: x, cy: y, r: r.toFixed(2) });
      c.style.strokeWidth = Math.max(3, high - low).toFixed(2) + "px"; // a rule of the style sheet has another
      if (isNum(stability) && stability < 0.995) c.setAttribute("stroke-dasharray", (stability * length).toFixed(2) + " " + ((1 - stability) * length).toFixed(2));
      return c;
    };
    const legend = (picture, top) => {
      const all = groupNames(), g = svg("g", { class: "legend" });
      const shown = all.filter((x, i) => i < hues && x.size).map((x) => [all.indexOf(x), x.text]);
      if (T.groups > hues) shown.push([hues, "other groups"]);
      shown.forEach(([i, text], at) => {
        const x = at % 4 * W / 4 + 10, y = top + Math.floor(at / 4) * 26;
        const label = svg("text", { x: x + 16, y: y + 5 });
        label.textContent = (i < hues ? letters[i] + " " : "") + [...text].length > 26 ? [...text].slice(0, 25).join("") + "…" : text;
        g.append(svg("g", { class: "hue-" + (i < hues ? i + 1 : 0) }, svg("circle", { cx: x, cy: y, r: 8 })), label);
      });
      const rows = Math.ceil(shown.length / 4);
      if (data.uncertainty && data.uncertainty.cold) {
        [1, 0.6, 0.2].forEach((s, i) => {
          const x = 18 + i * W / 4, y = top + rows * 26 + 10, label = svg("text", { x: x + 26, y: y + 5 });
          label.textContent = "comes back in " + percent(s, 0) + " of fits";
          const c = ring(x, y, 13, 18, s);
          g.append(c, label);
        });
        picture.append(g);
        return top + rows * 26 + 34;
      }
      picture.append(g);
      return top + rows * 26;
    };
    let picture, shown = [], nodes = [], names = [];
    const drawTopics = () => {
      shown = T.topics.filter(alive);
      const x = shown.map((k) => T.x[spot(k)]), y = shown.map((k) => T.y[spot(k)]), r = shown.map((k) => radius(thing(k).share));
      picture = svg("svg", {});
      const made = shown.map((k, i) => disc(k, x[i], y[i], r[i]));
      nodes = made.map((d) => d.node);
      names = made.map((d) => d.name);
      nodes.forEach((g, i) => {
        const u = thing(shown[i]).doubt;
        g.classList.add("hue-" + hueOf(shown[i]));
        if (shown[i] < K && doubtOf(shown[i])) g.classList.add("doubted");
        if (u && isNum(u.share[0])) {
          g.classList.add("ringed");
          g.firstChild.after(ring(x[i], y[i], radius(u.share[0]), radius(u.share[1]), u.stability));
          names[i].setAttribute("y", y[i] + Math.max(r[i], radius(u.share[1])) + 15);
        }
      });
      walk(nodes, x, y, (i) => choose(shown[i]));
      picture.append(...nodes, ...names);
      const bottom = legend(picture, H + pad + 14);
      picture.setAttribute("viewBox", `${-pad} ${-pad} ${W + 2 * pad} ${bottom + pad}`);
      $("topicmap-plane").replaceChildren(picture);
      fitNames(names, x, y, r);
      $("topicmap-rings").textContent = "Colours are groups" + (T.tree ? " of the hierarchy." : " of similar topics.") + (data.uncertainty ? " A ring covers the interval of the share; it is whole if the topic comes back in all other fits." : "") + (shown.some((k) => k < K && doubtOf(k)) ? " Pale discs cannot be relied on." : "");
    };
    const markTopics = () => {
      const at = shown.indexOf(drawnOf(topic));
      nodes.forEach((g, i) => markDisc(g, names[i], i === at, i === Math.max(at, 0)));
      const t = data.topics[topic], u = t.doubt;
      $("topicmap-info").replaceChildren(el("button", { type: "button", class: "link", dir: "auto", onclick: () => open(topic) }, label(topic)),
        ", " + (u ? percent(u.value) + within(...u.share, percent) : percent(t.share)) + (verdictOf(topic) ? ", " + verdictOf(topic) : "") + ". ",
        el("span", { class: "muted", dir: "auto" }, label(topic, 8)));
    };
    drawTopics();
    onWord.push((part) => nodes.forEach((g, i) => g.firstChild.setAttribute("r", !part ? radius(thing(shown[i]).share) : 3 + 40 * Math.sqrt(part.get(shown[i]) || 0))));
    onEdit.push(drawTopics);
    onTopic.push(markTopics);
    $("topicmap-info").before(exportable($("topicmap"), "map of topics", { svg: () => picture, note: () => $("topicmap").querySelector(".head p").textContent, rows: () => [["topic", "name", "share", "low", "high", "stability", "verdict", "group", "x", "y"],
      ...shareOrder.map((k) => {
        const u = data.topics[k].doubt;
        return [k, label(k), data.topics[k].share, u ? u.share[0] : "", u ? u.share[1] : "", u ? u.stability : "", verdictOf(k), T.group[k], T.x[spot(drawnOf(k))], T.y[spot(drawnOf(k))]];
      })] }));
  }
