  // ---- documents ---------------------------------------------------------------

  // scripts are those that are written without blanks.
  const scripts = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

  // docs are the documents of their map, by number: where they are, what they are of, and
  // which are chosen. They draw nothing.
  const docs = data.documents && (() => {
    const D = data.documents, count = D.count;
    const bytes = (s) => {
      const b = atob(s), out = new Uint8Array(b.length);
      for (let i = 0; i < b.length; i++) out[i] = b.charCodeAt(i);
      return out;
    };
    const points = bytes(D.points), x = new Float64Array(count), y = new Float64Array(count);
    for (let i = 0; i < count; i++) { // from the middle of a square of side 1
      x[i] = (points[4 * i] + 256 * points[4 * i + 1]) / 65535 - 0.5;
      y[i] = (points[4 * i + 2] + 256 * points[4 * i + 3]) / 65535 - 0.5;
    }

    // The topics of document i are those of the places from[i] to from[i + 1], the largest
    // first: those stored, or what people have made of them.
    const stored = bytes(D.topics), from = new Uint32Array(count + 1), own = new Int32Array(count);
    const kept = new Uint16Array(stored.length), shares = new Float32Array(stored.length);
    const gather = () => {
      for (let i = 0, at = 0, n = 0; i < count; i++) {
        for (let left = stored[at++]; left > 0; left--) {
          let k = stored[at++];
          if (D.wide) k += 256 * stored[at++];
          k = into(k);
          const part = stored[at++] / 255;
          let j = from[i];
          while (j < n && kept[j] !== k) j++;
          if (j === n) [kept[n], shares[n++]] = [k, 0];
          let sum = shares[j] + part;
          for (; j > from[i] && shares[j - 1] < sum; j--) [kept[j], shares[j]] = [kept[j - 1], shares[j - 1]];
          [kept[j], shares[j]] = [k, sum];
        }
        from[i + 1] = n;
        // The largest topic, which is background only where no other has a tenth; −1: none.
        own[i] = from[i] < n ? kept[from[i]] : -1;
        for (let j = from[i]; j < n && shares[j] >= 0.1; j++) if (!data.topics[kept[j]].background) { own[i] = kept[j]; break; }
      }
    };
    gather();
    const topicsOf = (i) => range(from[i + 1] - from[i]).map((j) => ({ k: kept[from[i] + j], share: shares[from[i] + j] }));
    const share = (i, k) => {
      for (let j = from[i]; j < from[i + 1]; j++) if (kept[j] === k) return shares[j];
      return 0;
    };
    // mix returns the mean shares of topics over documents. What is not stored of one falls
    // to topics as it does on average.
    const mix = (of) => {
      const sums = new Float64Array(K);
      let n = 0, rest = 0;
      for (let i = 0; i < count; i++) {
        if (of && !of[i]) continue;
        n++;
        rest++;
        for (let j = from[i]; j < from[i + 1]; j++) {
          sums[kept[j]] += shares[j];
          rest -= shares[j];
        }
      }
      D.rest.forEach((part, k) => { sums[into(k)] += Math.max(0, rest) * part; });
      return sums.map((s) => s / Math.max(1, n));
    };

    // Columns. The first two are of the largest topic; level 0 stands for none.
    const fields = (D.fields || []).map((f) => {
      const b = bytes(f.values), wide = f.kind === "category" ? 2 : 3, v = new Uint32Array(count);
      for (let i = 0; i < count; i++) v[i] = b[wide * i] + 256 * b[wide * i + 1] + (wide === 3 ? 65536 * b[wide * i + 2] : 0);
      return { ...f, v };
    });
    const ofTopics = [
      { name: "group of topics", kind: "category", of: (k) => data.topicmap.group[k] + 1, levels: range(data.topicmap.groups), called: (l) => (l <= hues ? letters[l - 1] + " " : "") + groupNames()[l - 1].text },
      { name: "largest topic", kind: "category", of: (k) => k + 1, levels: range(K), called: (l) => label(l - 1) },
    ];
    fields.unshift(...ofTopics);
    const countLevels = (f) => {
      f.has = new Uint32Array(f.levels.length + 1);
      for (const l of f.v) f.has[l]++;
      f.big = by(range(f.levels.length).map((l) => l + 1).filter((l) => f.has[l]), (l) => f.has[l]);
    };
    const takeTopics = () => ofTopics.forEach((f) => {
      f.v = Uint32Array.from(own, (k) => k < 0 ? 0 : f.of(k));
      countLevels(f);
    });
    takeTopics();
    for (const f of fields.slice(ofTopics.length)) {
      if (f.kind === "category") countLevels(f);
      else {
        f.value = (v) => (f.from / f.step + v - 1) * f.step; // in this order it never overflows
        f.sorted = f.v.filter((v) => v).sort();
      }
    }
    const day = 86400;
    const date = (s, step) => Math.abs(s) < 8.6e12 ? new Date(1000 * s).toISOString().slice(0, step < day ? 16 : 10).replace("T", " ") : show(s / day / 365.2425 + 1970, 5);
    // told is the text for a value of a column.
    const told = (f, v) => {
      if (!v) return "none";
      if (f.called) return f.called(v);
      if (f.kind === "category") return f.levels[v - 1] || "(empty)";
      if (f.kind === "time") return date(f.value(v), f.step);
      return (Number.isInteger(f.step) ? sign(String(f.value(v))) : show(f.value(v), 6)) + (f.unit ? " " + f.unit : "");
    };

    // Ids, titles and texts come compressed, and so a moment later.
    const inflate = async (s) => s && new Response(new Blob([bytes(s)]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
    const ids = new Array(count).fill(""), titles = new Array(count).fill(""), texts = new Map();
    let searched = null; // in small letters, made for the first search: ids and titles, and texts
    const title = (i) => titles[i] || ids[i] || say("{Document} ") + (i + 1);
    const onText = [], onRead = [], onColour = [];
    Promise.all([inflate(D.lines), inflate(D.texts)]).then(([lines, all]) => {
      lines.split("\n").slice(0, count).forEach((line, i) => { [ids[i], titles[i] = ""] = line.split("\t"); });
      const which = bytes(D.with);
      if (all) all.split("\x1e").slice(0, -1).forEach((t, j) => texts.set(which[3 * j] + 256 * which[3 * j + 1] + 65536 * which[3 * j + 2], t));
      searched = null;
      for (const f of onText) f();
    });

    // What is chosen: the documents for which all of these hold.
    const wanted = { text: "", like: "", levels: new Map(), ranges: new Map(), area: null };
    const is = new Uint8Array(count).fill(1);
    const inArea = (area, px, py) => {
      let inside = false;
      for (let a = 0, b = area.length - 1; a < area.length; b = a++) {
        const [ax, ay] = area[a], [bx, by] = area[b];
        if (ay > py !== by > py && px < (bx - ax) * (py - ay) / (by - ay) + ax) inside = !inside;
      }
      return inside;
    };
    const onChosen = [];
    const state = { chosen: count };
    // In a search, texts are those of the documents for which all else holds. inTexts says of how
    // many of these the text, with title and id, holds what is searched for: title and id alone do not count.
    let inTexts = 0, ofTexts = 0;
    const update = () => {
      // All words must be there, and a phrase in quotation marks as it is.
      const text = (fold(wanted.text).match(/"[^"]+"|\S+/g) || []).map((s) => s.replaceAll('"', "")).filter(Boolean);
      const holds = (s) => text.every((word) => s.includes(word));
      if (text.length && !searched) searched = { heads: ids.map((id, i) => fold(id + "\n" + titles[i])), texts: new Map([...texts].map(([i, t]) => [i, fold(t)])) };
      const levels = [...wanted.levels], ranges = [...wanted.ranges];
      state.chosen = inTexts = ofTexts = 0;
      for (let i = 0; i < count; i++) {
        let ok = levels.every(([f, set]) => set.has(fields[f].v[i])) && ranges.every(([f, [lo, hi]]) => fields[f].v[i] && fields[f].value(fields[f].v[i]) >= lo && fields[f].value(fields[f].v[i]) <= hi) &&
          (!wanted.area || inArea(wanted.area, x[i], y[i]));
        if (ok && text.length) {
          const t = searched.texts.get(i), there = t !== undefined && text.some((word) => t.includes(word)) && holds(searched.heads[i] + "\n" + t);
          ofTexts += t !== undefined;
          inTexts += there;
          ok = there || holds(searched.heads[i]);
        }
        is[i] = ok ? 1 : 0;
        state.chosen += is[i];
      }
      for (const f of onChosen) f();
    };
    const soon = frame(update);
    const toggle = (f, level) => {
      const set = wanted.levels.get(f) || new Set();
      if (!set.delete(level)) set.add(level);
      if (set.size) wanted.levels.set(f, set);
      else wanted.levels.delete(f);
      soon();
    };
    const clear = () => {
      wanted.text = wanted.like = "";
      wanted.levels.clear();
      wanted.ranges.clear();
      wanted.area = null;
      soon();
    };
    // tell puts what is wanted, but the area, into an address, and take takes it from there.
    const tell = (p) => {
      if (wanted.text.trim()) p.set("text", wanted.text.trim());
      if (wanted.like.trim()) p.set("like", wanted.like.trim());
      for (const [f, set] of wanted.levels) for (const l of set) p.append("by." + fields[f].name, told(fields[f], l));
      for (const [f, ends] of wanted.ranges) p.set("by." + fields[f].name, ends.map((v) => !isFinite(v) ? "" : fields[f].kind === "time" ? date(v, day) : String(v)).join(".."));
    };
    const take = (p) => {
      wanted.text = p.get("text") || "";
      wanted.like = p.get("like") || "";
      wanted.levels.clear();
      wanted.ranges.clear();
      fields.forEach((f, at) => {
        const values = p.getAll("by." + f.name);
        if (!values.length) return;
        if (f.kind === "category") {
          const set = new Set(range(f.levels.length + 1).filter((l) => values.includes(told(f, l))));
          if (set.size) wanted.levels.set(at, set);
          return;
        }
        const ends = values[0].split("..").map((s, end) => s === "" ? NaN : f.kind === "time" ? Date.parse(s + "T00:00:00Z") / 1000 + (end ? day - 1 : 0) : Number(s));
        if (ends.length === 2 && ends.some(isNum)) wanted.ranges.set(at, ends.map((v, end) => isNum(v) ? v : end ? Infinity : -Infinity));
      });
      update();
    };
    // partly reports whether a search sees the texts of a part of the documents only, those most
    // of one topic: what it finds is then no sample of all, and is counted among these texts.
    const partly = () => D.partly && wanted.text.trim() !== "";
    const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    const many = () => partly() ? "in " + grouped(inTexts) + " of the " + grouped(ofTexts) + " texts kept here" : grouped(state.chosen) + say(state.chosen === 1 ? " {document}" : " {documents}");
    // why says in words what is wanted.
    const why = () => [
      wanted.text.trim() && "with “" + wanted.text.replaceAll('"', "").trim() + "”",
      partly() && state.chosen > inTexts && "in " + grouped(state.chosen - inTexts) + " other titles and ids",
      partly() && "other texts found no room on this page",
      wanted.text.trim() && [...texts.values()].some((t) => t.endsWith("…")) && "long texts are cut",
      ...[...wanted.levels].map(([f, set]) => fields[f].name + ": " + [...set].slice(0, 4).map((l) => told(fields[f], l)).join(" or ") + (set.size > 4 ? " or " + (set.size - 4) + " others" : "")),
      ...[...wanted.ranges].map(([f, [lo, hi]]) => fields[f].name + (isFinite(lo) ? " from " + (fields[f].kind === "time" ? date(lo, day) : show(lo, 6)) : "") + (isFinite(hi) ? " to " + (fields[f].kind === "time" ? date(hi, day) : show(hi, 6)) : "")),
      wanted.area && "in the area drawn",
    ].filter(Boolean).join("; ");

    // likeness compares the topics of a document with others, of which it takes the roots:
    // 1 less half the square of Hellinger's distance, where all topics are kept.
    const likeness = (i, root) => {
      let s = 0;
      for (let j = from[i]; j < from[i + 1]; j++) s += root[kept[j]] * Math.sqrt(shares[j]);
      return s;
    };
    // likenessTo returns what does so with the topics that are not stored of a document, which has them as all documents do on average.
    const restRoot = D.rest.map(Math.sqrt);
    const likenessTo = (root) => {
      const all = sum(range(K).map((k) => root[k] * restRoot[k]));
      return (i) => {
        let s = 0, left = 1, others = all, part = 1;
        for (let j = from[i]; j < from[i + 1]; j++) {
          const k = kept[j];
          s += root[k] * Math.sqrt(shares[j]);
          left -= shares[j];
          others -= root[k] * restRoot[k];
          part -= D.rest[k];
        }
        return s + (left > 0 && part > 1e-9 ? others * Math.sqrt(left / part) : 0);
      };
    };
    // Topics of a text of which the words have the probabilities p in topics and come c times, under a Dirichlet
    // prior by CVB0, and under a logistic-normal one by steps of EM, each with one of Newton's.
    const underDirichlet = (of, tokens) => {
      const alpha = data.alpha.length ? data.alpha : data.topics.map((t) => t.share);
      let n = new Float64Array(K).fill(tokens / K);
      for (const x of of) x.g = new Float64Array(K).fill(1 / K);
      for (let step = 0; step < 100; step++) {
        const next = new Float64Array(K);
        for (const x of of) {
          const g = x.g.map((own, k) => x.p[k] * (alpha[k] + Math.max(0, n[k] - own))), all = sum(g);
          if (all > 0) x.g = g.map((v) => v / all);
          x.g.forEach((v, k) => { next[k] += x.c * v; });
        }
        n = next;
      }
      const all = tokens + sum(alpha);
      return n.map((v, k) => (v + alpha[k]) / all);
    };
    const underLogits = (of, tokens) => {
      const { mean, covariance: C } = data, logits = Float64Array.from(mean);
      const proportions = () => {
        const top = Math.max(...logits), e = logits.map((x) => Math.exp(x - top)), all = sum(e);
        return e.map((v) => v / all);
      };
      for (let step = 0; step < 40; step++) {
        const s = proportions(), n = new Float64Array(K);
        for (const x of of) {
          const g = s.map((v, k) => v * x.p[k]), all = sum(g);
          if (all > 0) g.forEach((v, k) => { n[k] += x.c * v / all; });
        }
        // (I + tokens·C·(diag s − ssᵀ))·move = C·(n − tokens·s) − (logits − mean), by elimination.
        const rows = range(K).map((k) => {
          const row = new Float64Array(K + 1);
          let along = 0;
          for (let l = 0; l < K; l++) along += C[K * k + l] * s[l];
          row[K] = mean[k] - logits[k];
          for (let l = 0; l < K; l++) {
            row[l] = tokens * s[l] * (C[K * k + l] - along) + (k === l ? 1 : 0);
            row[K] += C[K * k + l] * (n[l] - tokens * s[l]);
          }
          return row;
        });
        for (let k = 0; k < K; k++) {
          for (let r = k + 1; r < K; r++) {
            const f = rows[r][k] / rows[k][k];
            if (f) for (let l = k; l <= K; l++) rows[r][l] -= f * rows[k][l];
          }
        }
        let moved = 0;
        for (let k = K - 1; k >= 0; k--) {
          for (let l = k + 1; l < K; l++) rows[k][K] -= rows[k][l] * rows[l][K];
          rows[k][K] /= rows[k][k];
        }
        for (let k = 0; k < K; k++) {
          logits[k] += clamp(rows[k][K], -3, 3);
          moved = Math.max(moved, Math.abs(rows[k][K]));
        }
        if (moved < 1e-4) break;
      }
      return proportions();
    };
    // likeText finds what topics a text is of, by the model's inference over the words of
    // this page: { likeness, of a document to it; best, the largest topics; known and all, how many words }, or null
    // if none is known.
    let numbers = null, given = null; // of words, and p(word | topic) of those that texts had
    const likeText = (text) => {
      if (!numbers) [numbers, given] = [new Map(folded.map((w, i) => [w.replace(/[\s_]+/g, "_"), i])), new Map()];
      const chances = (w) => {
        if (given.has(w)) return given.get(w);
        // p(topic | word) of a few topics, the others share the rest; exact where the page has p(word | topic).
        const h = data.home[w], p = new Float64Array(K), some = h.length / 2, rest = 1 - sum(range(some).map((j) => h[2 * j + 1]));
        p.fill(K > some ? Math.max(0, rest) / (K - some) : 0);
        for (let j = 0; j < some; j++) p[h[2 * j]] = h[2 * j + 1];
        data.topics.forEach((t, k) => {
          const at = t.words.indexOf(w);
          p[k] = at >= 0 ? t.p[at] : t.share > 0 ? p[k] * data.p[w] / t.share : 0;
        });
        given.set(w, p);
        return p;
      };
      const tokens = fold(text).match(/[\p{L}\p{N}]+(?:['’.&+#/-]+[\p{L}\p{N}]+)*[+#]*/gu) || [], counts = new Map();
      const take = (word) => { const w = numbers.get(word); if (w !== undefined) counts.set(w, (counts.get(w) || 0) + 1); return w !== undefined; };
      let known = 0;
      for (let i = 0; i < tokens.length;) {
        let n = Math.min(3, tokens.length - i); // phrases first
        while (n > 1 && !take(tokens.slice(i, i + n).join("_"))) n--;
        if (n > 1 || take(tokens[i]) || take(tokens[i].replace(/['’]s$/, ""))) known += n;
        else if (tokens[i].split(/[-/]/).map(take).some(Boolean) || scripts.test(tokens[i]) && range(tokens[i].length).map((j) => take(tokens[i].slice(j, j + 2))).some(Boolean)) known++;
        i += n;
      }
      if (!counts.size) return null;
      const of = [...counts].map(([w, c]) => ({ c, p: chances(w) })), size = sum(of.map((x) => x.c));
      const part = data.mean ? underLogits(of, size) : underDirichlet(of, size);
      const shares = new Float64Array(K);
      part.forEach((s, k) => { shares[into(k)] += s; });
      return { likeness: likenessTo(shares.map(Math.sqrt)), best: by(range(K).filter(alive), (k) => shares[k]).slice(0, 2).map((k) => ({ k, share: shares[k] })), known, all: tokens.length };
    };
    // similar returns the n documents with the most similar topics.
    const similar = (i, n) => {
      const root = new Float64Array(K), best = [];
      for (let j = from[i]; j < from[i + 1]; j++) root[kept[j]] = Math.sqrt(shares[j]);
      for (let d = 0; d < count; d++) {
        const s = d === i ? -1 : likeness(d, root);
        if (s < 0 || best.length === n && s <= best[n - 1].s) continue;
        let at = best.length;
        while (at > 0 && best[at - 1].s < s) at--;
        best.splice(at, 0, { d, s });
        best.length = Math.min(best.length, n);
      }
      return best.map((b) => b.d);
    };

    // Colours: each document has one of at most 8 hues, or 0, the rest.
    const inHue = new Uint8Array(count);
    const colour = { by: 0, legend: [] };
    const paint = () => {
      const ramp = (values, shown) => { // eighths of the documents, or fewer where they are alike
        const sorted = values.filter((v) => v > 0).sort();
        const ends = [...new Set(range(8).map((q) => sorted[Math.floor((q + 1) * sorted.length / 8) - 1]).filter((v) => v > 0))];
        for (let i = 0; i < count; i++) inHue[i] = values[i] > 0 ? 1 + ends.findIndex((e) => values[i] <= e) : 0;
        colour.ramp = ends.length;
        colour.legend = ends.map((e, q) => ({ hue: q + 1, text: () => (q ? "to " : "up to ") + shown(e) }));
        if (sorted.length < count) colour.legend.unshift({ hue: 0, text: () => "none" });
      };
      const f = fields[colour.by];
      if (!f) {
        const values = new Float32Array(count);
        for (let i = 0; i < count; i++) values[i] = share(i, topic);
        ramp(values, (v) => percent(v, 0));
      } else if (f.kind !== "category") {
        ramp(f.v, (v) => told(f, v));
      } else {
        // Groups have the colours that they have elsewhere, and of others the largest have one.
        const hue = new Uint8Array(f.levels.length + 1);
        const big = (f === ofTopics[0] ? f.big.filter((l) => l <= 8) : f.big.filter((l) => f !== ofTopics[1] || !data.topics[l - 1].background)).slice(0, 8);
        big.forEach((l, h) => { hue[l] = f === ofTopics[0] ? l : h + 1; });
        for (let i = 0; i < count; i++) inHue[i] = hue[f.v[i]];
        colour.ramp = 0;
        colour.legend = big.map((l) => ({ hue: hue[l], level: l, text: () => told(f, l) }));
        const rest = f.big.length - big.length + (f.has[0] ? 1 : 0);
        if (rest) colour.legend.push({ hue: 0, text: () => f.has[0] && f.big.length === big.length ? "none" : (f.big.length - big.length) + " others" });
      }
    };
    // hueColour returns the CSS colour of a hue; those of a ramp go from pale to the accent.
    const hueColour = (h) => {
      if (!h) return css("--dot");
      return colour.ramp ? css("--ramp-" + Math.round(1 + (h - 1) * 7 / Math.max(1, colour.ramp - 1))) : css("--hue-" + h);
    };

    const edited = () => {
      gather();
      takeTopics();
      ofTopics.forEach((f, at) => wanted.levels.delete(at));
      paint();
      update();
    };

    return {
      count, x, y, own, is, state, inHue, colour, fields, wanted, ids, texts, onText, onChosen, onRead, onColour, places: D.places,
      topicsOf, share, mix, told, date, title, soon, toggle, clear, tell, take, partly, grouped, many, why, likenessTo, likeText, similar, paint, hueColour, edited,
    };
  })();
