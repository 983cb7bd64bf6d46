  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const K = data.topics.length;
  root.classList.add("js");

  // ---- helpers -----------------------------------------------------------------

  // el makes an element; texts become text nodes, never markup.
  const el = (tag, props, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (k === "class") e.className = v;
      else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
    }
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
  };
  const svg = (tag, props, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(props || {})) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  // say puts the nouns of the data into a text, as {words} or {Documents}.
  const say = (s) => s.replace(/\{([^}]*)\}/g, (all, key) => data.nouns[key] || all);
  const isNum = (x) => typeof x === "number" && isFinite(x);
  const sign = (s) => s.replace("-", "−");
  // show writes a number with d significant digits.
  const show = (x, d = 3) => {
    if (!isNum(x)) return "–";
    const a = Math.abs(x);
    if (a !== 0 && (a < 1e-4 || a >= 1e6)) return sign(x.toExponential(d - 1));
    return sign(String(Number(x.toPrecision(d))));
  };
  // exact is show for what is 0 up to rounding.
  const exact = (x, zero) => isNum(x) && Math.abs(x) < zero ? "0" : show(x);
  const percent = (x, d = 1) => isNum(x) ? sign((100 * x).toFixed(d)) + " %" : "–";
  const small = (p) => p >= 0.1 ? percent(p, 0) : p >= 0.01 ? percent(p, 1) : p >= 0.0001 ? percent(p, 2) : "<0.01 %";
  const times = (x) => "×" + (x >= 10 ? Math.round(x) : x.toFixed(1));
  // within writes an interval in brackets, each end as f does, or that there is none.
  const within = (lo, hi, f) => " (" + (isNum(lo) && isNum(hi) ? f(lo) + " to " + f(hi) : "too little is known for an interval") + ")";
  const signed = (x) => {
    if (!isNum(x)) return "–";
    const s = Math.abs(x).toFixed(2);
    return (Number(s) === 0 ? "" : x < 0 ? "−" : "+") + s;
  };
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  // by sorts numbers of things by a value, the largest first, what has none last.
  const by = (list, value, up) => list.slice().sort((a, b) => {
    const x = value(a), y = value(b);
    if (!isNum(x) || !isNum(y)) return isNum(x) ? -1 : isNum(y) ? 1 : a - b;
    return (up ? x - y : y - x) || a - b;
  });
  // most is the largest number of a list of any length, least if none is larger.
  const most = (list, least) => list.reduce((m, x) => x > m ? x : m, least);
  const frame = (f) => {
    let due = false;
    return () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; f(); });
    };
  };
  // sized returns the context of a canvas of w × h pixels of the page.
  const sized = (canvas, w, h) => {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    return c;
  };
  const clamp = (x, lo, hi) => Math.min(hi, Math.max(lo, x));

  // ---- topics ------------------------------------------------------------------

  const words = data.words;
  const logP = data.p.map(Math.log);
  const sum = (v) => v.reduce((s, x) => s + (isNum(x) ? x : 0), 0);

  // relevant returns the top words of a topic, as package report computes them.
  const relevant = (k, lambda, n) => {
    const t = data.topics[k];
    const scored = t.words.map((w, i) => ({ w, p: t.p[i], s: Math.log(t.p[i]) - (1 - lambda) * logP[w] }));
    return scored.sort((a, b) => b.s - a.s || a.w - b.w).slice(0, n);
  };
  // asRead returns the words by which people recognise a topic, as Model.TopWords does.
  const asRead = (k) => {
    const t = data.topics[k], at = new Map(t.words.map((w, i) => [w, i]));
    return t.read.map((w) => ({ w, p: t.p[at.get(w)] }));
  };
  // People may find that topics are one: see edits.js. partOf holds for each topic the one
  // that it is a part of, which is itself for most.
  const partOf = range(K);
  const into = (k) => k < K ? partOf[k] : k;
  const alive = (k) => into(k) === k;
  let parts = range(K).map((k) => [k]);
  const partsOf = (k) => parts[k];
  const onEdit = []; // what must be drawn again with other names and fewer topics
  // Groups of the tree are numbered after the topics, level by level. Where there are many
  // topics, those of a level are drawn in their place. thing returns a topic or a group.
  const tree = data.tree, groups = tree ? tree.levels.flatMap((l) => l.groups) : [];
  let firstOf = K;
  if (tree) {
    for (const l of tree.levels) {
      l.first = firstOf;
      l.groups.forEach((g, i) => Object.assign(g, { number: i, topics: [] }));
      l.of.forEach((g, k) => l.groups[g].topics.push(k));
      firstOf += l.groups.length;
    }
  }
  const thing = (k) => k < K ? data.topics[k] : groups[k - K];
  // drawnOf is what is drawn of a topic: it, or its group.
  const drawnOf = (k) => k < K && tree && tree.drawn >= 0 ? tree.levels[tree.drawn].first + tree.levels[tree.drawn].of[k] : k;
  // label is what a topic is called, or its n best words; name is its number as in the
  // library, and short the first word of what it is called.
  const label = (k, n) => n ? thing(k).read.slice(0, n).map((w) => words[w]).join(" · ") : thing(k).name;
  const digits = (k) => k < K ? String(k) : "g" + thing(k).number;
  const name = (k) => k < K ? "Topic " + k + (data.topics[k].background ? " (background)" : "") : "Group " + thing(k).number + " of " + thing(k).topics.length + " topics";
  const numbered = (k) => (k < K ? k + "  " : "") + label(k);
  const short = (k) => thing(k).name.split(" · ")[0];
  // hueOf is the number of the colour of a topic's group, --hue-1 and so on; 0: none of its own.
  const hues = 8;
  const hueOf = (k) => {
    const g = data.topicmap.group[k < K ? k : thing(k).topics[0]];
    return g < hues ? g + 1 : 0;
  };
  // lettered is the letter of a topic's group, which says what its colour says.
  const letters = "ABCDEFGH";
  const lettered = (k) => hueOf(k) ? " " + letters[hueOf(k) - 1] : "";
  // groupNames are what the groups are called, by their largest topics, and how many those are.
  const groupNames = () => range(data.topicmap.groups).map((g) => {
    const mine = shareOrder.filter((k) => data.topicmap.group[k] === g);
    const called = (n) => mine.slice(0, n).map(short).join(", ") + (mine.length > n ? ", …" : "");
    return { size: mine.length, text: [3, 2].map(called).find((s) => s.length <= 28) || called(1) };
  });
  const verdictOf = (k) => {
    const v = data.topics[k].verdict;
    return !v ? "" : v.quality + (v.twin >= 0 ? " of “" + label(into(v.twin)) + "”" : "") + (v.reason ? ": " + v.reason : "");
  };
  // shareOf is the share of a topic, less the bias that the bootstrap knows, as everywhere on the page.
  const shareOf = (k) => {
    const u = k < K ? data.topics[k].doubt : null;
    return u && isNum(u.value) ? u.value : thing(k).share;
  };
  // doubtOf says why a topic cannot be relied on, "" for others.
  const doubtOf = (k) => {
    const t = data.topics[k];
    if (t.background) return "background";
    if (t.verdict && t.verdict.quality !== "sound") return t.verdict.quality;
    return t.doubt && isNum(t.doubt.stability) && t.doubt.stability < 0.75 ? "seldom comes back" : "";
  };
  data.topics.forEach((t, k) => { t.doubt = data.uncertainty ? data.uncertainty.topics[k] : null; });
  const byShare = () => by(range(K).filter(alive), shareOf);
  let shareOrder = byShare();

  // M is the matrix of correlations of n topics; corr, joint and lift take places in it.
  let M, n, placeOf, similar;
  const cornered = (i, j) => i > j ? [j, i] : [i, j];
  const pairAt = (m, i, j) => {
    [i, j] = cornered(i, j);
    return i * m.topics.length - i * (i + 1) / 2 + j - i - 1;
  };
  const corrIn = (m, i, j) => i === j ? 1 : m.corr[pairAt(m, i, j)];
  const jointIn = (m, i, j) => {
    [i, j] = cornered(i, j);
    return m.joint[i * m.topics.length - i * (i - 1) / 2 + j - i];
  };
  const corr = (i, j) => corrIn(M, i, j);
  const joint = (i, j) => jointIn(M, i, j);
  const lift = (i, j) => joint(i, j) / (thing(M.topics[i]).share * thing(M.topics[j]).share);
  const takeMatrix = (m) => {
    M = m;
    n = m.topics.length;
    placeOf = new Map(m.topics.map((k, i) => [k, i]));
    similar = m.similar.flatMap((i) => m.topics[i] < K ? [m.topics[i]] : shareOrder.filter((k) => drawnOf(k) === m.topics[i]));
    for (const k of shareOrder) if (!placeOf.has(drawnOf(k))) similar.push(k);
  };
  takeMatrix(data.matrix);

  // ---- state -------------------------------------------------------------------

  // The first topic shown is the largest sound one, or at least not background.
  const worth = (k) => data.topics[k].background ? 0 : !data.topics[k].verdict || data.topics[k].verdict.quality === "sound" ? 2 : 1;
  let topic = shareOrder.reduce((a, k) => worth(k) > worth(a) ? k : a, shareOrder[0]);
  let lambda = 1;
  const onTopic = [];
  let openGroup; // shows a group: see families.js
  const choose = (k, from) => {
    if (k >= K) {
      openGroup(k);
      return;
    }
    topic = into(k);
    for (const f of onTopic) f(from);
  };
  const open = (k) => {
    choose(k);
    if (k >= K) return;
    $("topics").scrollIntoView();
    $("list").focus({ preventScroll: true });
  };
  const printing = () => root.classList.contains("print"); // all is shown
  const onTold = []; // when what the address says has changed
  const redraws = []; // what must be drawn again in other colours or another size

  // ---- theme -------------------------------------------------------------------

  const themeButton = $("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("report-theme"); } catch { /* not allowed for files, in some browsers */ }
  const setTheme = (dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    themeButton.textContent = dark ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", themeButton.textContent + " colours");
    for (const f of redraws) f();
  };
  const themeNow = () => setTheme(chosen ? chosen === "dark" : prefersDark.matches);
  themeButton.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("report-theme", chosen); } catch { /* as above */ }
    themeNow();
  });
  prefersDark.addEventListener("change", themeNow);
  let closed = []; // details that are open on paper
  addEventListener("beforeprint", () => {
    root.classList.add("print"); // shows the matrix too, so that it can be drawn
    closed = [...document.querySelectorAll("details:not([open], #documents-filters)")];
    for (const d of closed) d.open = true;
    setTheme(false);
  });
  addEventListener("afterprint", () => {
    root.classList.remove("print");
    for (const d of closed) d.open = false;
    themeNow();
  });

  // ---- navigation --------------------------------------------------------------

  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const e of entries) {
      if (!e.isIntersecting) continue;
      for (const [id, a] of links) {
        if (id === e.target.id) a.setAttribute("aria-current", "true");
        else a.removeAttribute("aria-current");
      }
    }
  }, { rootMargin: "-25% 0px -70% 0px" });
  document.querySelectorAll("main > section").forEach((s) => seen.observe(s));
