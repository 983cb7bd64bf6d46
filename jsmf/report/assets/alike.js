  // ---- topics alike in words -----------------------------------------------------

  // alike holds into how many groups people have cut the topics, for the address; 0: they have not.
  const alike = { cut: 0, draw: () => {} };
  {
    const T = data.topicmap, slider = $("alike-cut"), box = $("alike-tree").firstChild;
    const shareIn = (t) => sum(t.topics.map((k) => thing(k).share));
    // joined returns the trees of the topics that there are: one, unless some cannot be compared.
    const joined = () => {
      const at = T.topics.map((k) => alive(k) ? { topics: [k], cost: 0 } : null);
      (T.costs || []).forEach((cost, i) => {
        const [p, q] = [T.joins[2 * i], T.joins[2 * i + 1]], both = [at[p], at[q]].filter(Boolean).sort((x, y) => shareIn(y) - shareIn(x));
        at[p] = both.length < 2 ? both[0] : { parts: both, topics: both.flatMap((t) => t.topics), cost: Math.max(0, cost) };
        at[q] = null;
      });
      return at.filter(Boolean);
    };
    // partTo parts trees until there are n groups, in their order, and always the tree that cost most; lowest is
    // what the last one cost.
    let groups = [], lowest = NaN, picture;
    const partTo = (trees, n) => {
      groups = trees.slice();
      lowest = NaN;
      while (groups.length < n) {
        const i = by(range(groups.length), (i) => groups[i].parts ? groups[i].cost : -1)[0];
        lowest = groups[i].cost;
        groups.splice(i, 1, ...groups[i].parts);
      }
    };
    const called = (g) => {
      const mine = by(g.topics, (k) => thing(k).share);
      return mine.length === 1 ? label(mine[0]) : mine.slice(0, 3).map(short).join(", ") + (mine.length > 3 ? ", …" : "");
    };
    const drawAlike = (trees) => {
      const line = 20, gap = 8, W = Math.max(260, box.clientWidth), wide = W * 0.45, highest = Math.sqrt(most(T.costs || [], 1e-9));
      picture = svg("svg", { role: "img", "aria-label": "Tree of the topics, which the list has as groups" });
      const x = (cost) => wide * (1 - Math.sqrt(cost) / highest) + 4;
      let y = line / 2;
      const lasts = new Set(groups.map((g) => g.topics.at(-1)));
      // draw draws a tree and returns the height of its stem.
      const draw = (t, within) => {
        const inside = within || groups.includes(t);
        if (!t.parts) {
          const [k] = t.topics, here = y, text = svg("text", { x: wide + 10, y: y + 4 }), room = Math.floor((W - wide - 10) / 6.6), letters = [...label(k)];
          text.textContent = letters.length > room ? letters.slice(0, room - 1).join("") + "…" : label(k);
          picture.append(text);
          y += line + (lasts.has(k) ? gap : 0);
          return here;
        }
        const [a, b] = t.parts.map((p) => draw(p, inside)), [left, ra, rb] = [x(t.cost), x(t.parts[0].cost), x(t.parts[1].cost)];
        picture.append(svg("path", { class: inside ? "within" : "", d: `M${ra} ${a}H${left}V${b}H${rb}` }));
        return (a + b) / 2;
      };
      for (const t of trees) draw(t, false);
      if (isNum(lowest)) { // between what is parted and what is not
        const at = (x(lowest) + x(most(groups.map((g) => g.cost), 0))) / 2;
        picture.append(svg("line", { x1: at, x2: at, y1: 0, y2: y }));
      }
      picture.setAttribute("viewBox", `0 0 ${W} ${Math.ceil(y)}`);
      box.replaceChildren(picture);
    };
    alike.draw = () => {
      const trees = joined(), n = sum(trees.map((t) => t.topics.length));
      slider.min = trees.length;
      slider.max = n;
      slider.value = alike.cut || clamp(Math.round(Math.sqrt(n)), 1, hues);
      const cut = Number(slider.value);
      partTo(trees, cut);
      $("alike-told").textContent = cut === 1 ? "1 group" : cut + " groups";
      slider.setAttribute("aria-valuetext", $("alike-told").textContent);
      $("alike-list").replaceChildren(...groups.map((g) => el("li", {}, el("h3", { dir: "auto" }, called(g)), el("span", { class: "muted small" }, " " + (g.topics.length === 1 ? "1 topic" : g.topics.length + " topics") + ", " + percent(shareIn(g))),
        g.topics.length === 1 && g.topics[0] >= K ? null : el("ul", {}, ...by(g.topics, (k) => thing(k).share).map((k) => el("li", {}, link(k, label(k)), el("span", { class: "muted" }, percent(thing(k).share))))))));
      drawAlike(trees);
    };
    slider.addEventListener("input", () => {
      alike.cut = Number(slider.value);
      alike.draw();
      for (const f of onTold) f();
    });
    redraws.push(alike.draw);
    onEdit.push(alike.draw);
    exportable(box.parentElement, say("topics alike in {words}"), { svg: () => picture, note: () => $("alike").querySelector(".head p").textContent, rows: () => [["group", "topic", "name", "share"],
      ...groups.flatMap((g) => g.topics.map((k) => [called(g), k, label(k), thing(k).share]))] });
    alike.draw();
  }
