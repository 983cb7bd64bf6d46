  // ---- tree of topics ----------------------------------------------------------

  openGroup = () => {};
  if (tree) {
    const level = $("families-level"), wanted = $("families-filter"), sorted = $("families-sort"), box = $("families-list");
    const levels = tree.levels.length;
    for (const i of range(levels + 1)) {
      level.append(el("option", { value: i }, i < levels ? tree.levels[i].groups.length + " groups" : K + " topics"));
    }
    const alivesOf = (k) => k < K ? [k] : thing(k).topics.filter(alive);
    // listed returns the groups or topics of a level that are in a group; -1: all of them.
    const listed = (l, within) => {
      const all = l < levels ? range(tree.levels[l].groups.length).map((g) => tree.levels[l].first + g).filter((g) => alivesOf(g).length) : range(K).filter(alive);
      const mine = within < 0 ? all : all.filter((k) => inside(k, within));
      return sorted.value === "name" ? mine.sort((a, b) => label(a).localeCompare(label(b)) || a - b) : by(mine, (k) => thing(k).share);
    };
    const inside = (k, group) => {
      const l = levelOf(group), one = k < K ? k : thing(k).topics[0];
      return tree.levels[l].first + tree.levels[l].of[one] === group;
    };
    const levelOf = (k) => tree.levels.findLastIndex((l) => k >= l.first);
    const has = (k, q) => fold(label(k)).includes(q) || thing(k).read.some((w) => folded[w].includes(q));
    // row makes the row of a topic or a group; what a group holds is made when it is opened.
    const row = (k, largest) => {
      const bar = el("i"), inner = k < K ? 0 : alivesOf(k).length;
      bar.style.width = clamp(100 * thing(k).share / largest, 0, 100) + "%";
      const cells = [
        el("span", { class: "called", dir: "auto" }, k < K ? link(k, label(k)) : label(k)),
        el("span", { class: "track", "aria-hidden": "true" }, bar),
        el("span", { class: "num muted" }, percent(thing(k).share)),
        el("span", { class: "about", dir: "auto" }, k < K ? "" : (inner === 1 ? "1 topic: " : inner + " topics: "), label(k, 8)),
      ];
      if (k < K) return el("li", { "data-k": k }, el("div", { class: "leaf" }, ...cells));
      const d = el("details", {}, el("summary", {}, ...cells));
      const fill = () => {
        if (!d.open || d.children.length > 1) return;
        const near = partners(thing(k).with, (l, c) => [el("button", { type: "button", class: "link", dir: "auto", onclick: () => openGroup(l) }, label(l)), " " + c]);
        if (near.length) d.append(el("p", { class: "near" }, "Goes with ", ...near.flatMap((x, i) => i ? ["; ", ...x] : x), "."));
        d.append(rows(levelOf(k) + 1, k));
      };
      d.addEventListener("toggle", fill);
      d.fill = fill;
      return el("li", { "data-k": k }, d);
    };
    const rows = (l, within, q = "") => {
      const list = listed(l, within).filter((k) => !q || has(k, q) || k >= K && alivesOf(k).some((t) => has(t, q)));
      const largest = most(list.map((k) => thing(k).share), 1e-300);
      return el("ul", {}, ...list.map((k) => row(k, largest)));
    };
    const drawTree = () => {
      box.replaceChildren(...rows(Number(level.value), -1, fold(wanted.value.trim())).children);
      $("families-none").hidden = box.children.length > 0;
    };
    // openGroup shows the level of a group, and opens it.
    openGroup = (k) => {
      level.value = levelOf(k);
      wanted.value = "";
      drawTree();
      const d = box.querySelector(`[data-k="${k}"] > details`);
      d.open = true;
      d.fill();
      d.scrollIntoView({ block: "start" });
      d.firstChild.focus({ preventScroll: true });
    };
    for (const [node, event] of [[level, "change"], [sorted, "change"], [wanted, "input"]]) node.addEventListener(event, drawTree);
    const path = (k) => tree.levels.map((l) => l.groups[l.of[k]].name);
    exportable(box.parentElement, "tree of topics", { rows: () => [[...tree.levels.map((_, i) => "level " + i), "topic", "name", "share", say("{words}")],
      ...shareOrder.map((k) => [...path(k), k, label(k), thing(k).share, label(k, data.top).replaceAll(" · ", " ")])] });
    onEdit.push(drawTree);
    drawTree();
  }
