  // ---- edits -------------------------------------------------------------------

  // People may rename topics and say that some are one, which holds in all views. What needs the model or the
  // documents is marked only: words that are hidden, stopped or kept out of a topic, topics that are split or
  // dropped. Edits can be undone, are kept by the browser where it may, for pages of the same model, and are
  // saved as jsmf.Edits reads them. Words that are to be seeds of a topic in the next fit are saved by themselves.
  let restoreEdits, planned, struck, editWord;
  {
    const first = { topics: data.topics, matrix: data.matrix, columns: data.columns.map((c) => c.values) };
    const none = { names: {}, merge: [], split: {}, drop: [], hide: [], exclude: {}, stop: [], seeds: {} }; // as in jsmf.Edits, but for seeds
    let now = structuredClone(none);
    const before = []; // the edits before each
    const membersOf = (k) => now.merge.find((g) => g[0] === k) || [k];
    // planned says what is to become of a topic, and struck what of a word in it; "": nothing.
    planned = (k) => now.split[k] ? "to be split into " + now.split[k] : now.drop.includes(k) ? "to be dropped" : "";
    struck = (w, k) => now.hide.includes(words[w]) ? "hidden" : now.stop.includes(words[w]) ? say("a stop {word}") : (now.exclude[k] || []).includes(words[w]) ? "kept out" : (now.seeds[k] || []).includes(words[w]) ? "a seed" : "";
    const told = () => [
      ...Object.entries(now.names).map(([k, s]) => "Topic " + k + " is “" + s + "”"),
      ...now.merge.map((g) => "Topics " + g.join(", ") + " are one"),
      ...range(K).filter(planned).map((k) => "Topic " + k + " is " + planned(k)),
      ...now.hide.map((w) => "“" + w + "” names no topic"),
      ...now.stop.map((w) => say("“" + w + "” is a stop {word}")),
      ...Object.entries(now.seeds).map(([k, list]) => "Seeds of topic " + k + ": " + list.join(", ")),
      ...Object.entries(now.exclude).flatMap(([k, list]) => list.map((w) => "“" + w + "” is kept out of topic " + k)),
    ];
    const without = (list, x) => { if (list.includes(x)) list.splice(list.indexOf(x), 1); };

    // together returns a topic made of others, of which the page knows the best words.
    const together = (k, members) => {
      const made = { ...first.topics[k], verdict: null, doubt: null, rank: 0 };
      made.share = sum(members.map((m) => first.topics[m].share));
      const part = new Map(members.map((m) => [m, made.share > 0 ? first.topics[m].share / made.share : 1 / members.length]));
      const inTopic = new Map(members.map((m) => [m, new Map(first.topics[m].words.map((w, i) => [w, first.topics[m].p[i]]))]));
      const prob = (w, m) => { // of a word that is not among the topic's best, by where it is at home
        if (inTopic.get(m).has(w)) return inTopic.get(m).get(w);
        const h = data.home[w];
        for (let i = 0; i + 1 < h.length; i += 2) if (h[i] === m && first.topics[m].share > 0) return h[i + 1] * data.p[w] / first.topics[m].share;
        return 0;
      };
      made.words = [...new Set(members.flatMap((m) => first.topics[m].words))].sort((a, b) => a - b);
      made.p = made.words.map((w) => sum(members.map((m) => part.get(m) * prob(w, m))));
      const weight = new Map();
      for (const m of members) first.topics[m].read.forEach((w, i) => weight.set(w, (weight.get(w) || 0) + part.get(m) * first.topics[m].weight[i]));
      made.read = by([...weight.keys()], (w) => weight.get(w)).slice(0, data.top);
      made.background = members.every((m) => first.topics[m].background);
      const docs = new Map();
      for (const m of members) {
        for (const d of first.topics[m].docs || []) {
          const key = JSON.stringify([d.title, d.note, d.snippet]), was = docs.get(key);
          docs.set(key, { ...d, share: d.share + (was ? was.share : 0) });
        }
      }
      const list = [...docs.values()];
      if (made.docs) made.docs = by(range(list.length), (i) => list[i].share).slice(0, made.docs.length).map((i) => list[i]);
      return made;
    };

    // merged returns the correlations of the topics as they are now: covariances add up.
    const merged = () => {
      const m = first.matrix, at = new Map(m.topics.map((k, i) => [k, i]));
      const topics = m.topics.filter((k) => alive(k) && membersOf(k).every((l) => at.has(l)));
      const places = topics.map((k) => membersOf(k).map((l) => at.get(l)));
      const deviation = m.topics.map((k, i) => Math.sqrt(jointIn(m, i, i) - first.topics[k].share ** 2));
      const all = (a, b, f) => a.reduce((s, i) => s + b.reduce((r, j) => r + f(i, j), 0), 0);
      const covariance = (a, b) => all(a, b, (i, j) => corrIn(m, i, j) * deviation[i] * deviation[j]);
      const out = { ...m, topics, corr: [], joint: [], low: m.low && [], high: m.high && [] };
      places.forEach((a, i) => {
        for (let j = i; j < places.length; j++) {
          const b = places[j], c = covariance(a, b) / Math.sqrt(covariance(a, a) * covariance(b, b));
          out.joint.push(all(a, b, (p, q) => jointIn(m, p, q)));
          if (j === i) continue;
          const same = a.length + b.length === 2, p = pairAt(m, a[0], b[0]);
          out.corr.push(same ? m.corr[p] : isNum(c) ? c : null);
          if (m.low) { // of topics made one no interval is known
            out.low.push(same ? m.low[p] : null);
            out.high.push(same ? m.high[p] : null);
          }
        }
      });
      const now = new Map(places.flatMap((a, i) => a.map((p) => [p, i])));
      out.similar = [...new Set(m.similar.filter((p) => now.has(p)).map((p) => now.get(p)))];
      out.x = places.map((a) => m.x[a[0]]);
      out.y = places.map((a) => m.y[a[0]]);
      out.r = places.map((a) => Math.hypot(...a.map((p) => m.r[p])));
      const links = new Map();
      for (const [p, q] of m.links) {
        const [i, j] = cornered(now.get(p), now.get(q));
        if (i !== undefined && j !== undefined && i !== j) links.set(i + " " + j, [i, j]);
      }
      out.links = [...links.values()];
      return out;
    };

    const apply = () => {
      for (const k of range(K)) partOf[k] = k;
      for (const g of now.merge) for (const k of g) partOf[k] = g[0];
      parts = range(K).map(() => []);
      partOf.forEach((first, k) => parts[first].push(k));
      data.topics = first.topics.map((t, k) => ({ ...(membersOf(k).length > 1 ? together(k, membersOf(k)) : t), name: now.names[k] || t.name }));
      data.columns.forEach((c, i) => {
        c.values = first.columns[i].map((v, k) => membersOf(k).length === 1 ? v : c.key === "share" ? sum(membersOf(k).map((l) => first.columns[i][l])) : null);
      });
      shareOrder = byShare();
      takeMatrix(now.merge.length && drawnOf(0) < K ? merged() : first.matrix); // groups stay as they are
      const all = told(), n = all.length;
      $("edits").hidden = !before.length;
      $("edits-told").textContent = n === 1 ? "1 edit" : n + " edits";
      $("edits-list").replaceChildren(...all.map((s) => el("li", { dir: "auto" }, s)));
      $("edits-save").disabled = n === Object.keys(now.seeds).length;
      $("seeds-save").hidden = !Object.keys(now.seeds).length;
      try {
        if (n) localStorage.setItem(key, JSON.stringify(now));
        else localStorage.removeItem(key);
      } catch { /* not allowed for files, in some browsers */ }
      for (const f of onEdit) f();
      choose(topic);
    };
    const key = "report-edits-" + data.model;
    restoreEdits = () => {
      try {
        const kept = { ...none, ...JSON.parse(localStorage.getItem(key)) };
        const is = (k) => Number.isInteger(Number(k)) && k >= 0 && k < K, texts = (list) => list.every((s) => typeof s === "string");
        const members = kept.merge.flat(), once = [...members, ...kept.drop, ...Object.keys(kept.split).map(Number)];
        if (![...once, ...Object.keys(kept.names), ...Object.keys(kept.exclude), ...Object.keys(kept.seeds)].every(is) || new Set(once).size < once.length || kept.merge.some((g) => g.length < 2) ||
          !Object.values(kept.split).every((m) => Number.isInteger(m) && m > 1) || ![Object.values(kept.names), kept.hide, kept.stop, ...Object.values(kept.exclude), ...Object.values(kept.seeds)].every(texts)) return;
        before.push(now);
        now = kept;
        if (!told().length) before.pop();
      } catch {
        return;
      }
      apply();
    };
    const edit = (f) => {
      before.push(structuredClone(now));
      f();
      apply();
    };

    const forms = { rename: $("rename-form"), merge: $("merge-form"), split: $("split-form") };
    const showForm = (which, back) => {
      for (const [name, form] of Object.entries(forms)) {
        form.hidden = name !== which;
        $(name).setAttribute("aria-expanded", String(name === which));
      }
      if (back) $(back).focus();
    };
    for (const [name, form] of Object.entries(forms)) {
      form.querySelector("[data-close]").addEventListener("click", () => showForm(null, name));
      form.addEventListener("keydown", (e) => { if (e.key === "Escape") showForm(null, name); });
    }
    $("rename").addEventListener("click", () => {
      $("rename-name").value = label(topic);
      $("rename-wrong").textContent = "";
      showForm("rename");
      $("rename-name").select();
    });
    forms.rename.addEventListener("submit", (e) => {
      e.preventDefault();
      const k = topic, s = $("rename-name").value.replace(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
      const taken = s && range(K).filter(alive).find((l) => l !== k && label(l) === s);
      if (isNum(taken)) {
        $("rename-wrong").textContent = "Topic " + taken + " has this name.";
        return;
      }
      if (s !== label(k)) edit(() => {
        if (s && s !== first.topics[k].name) now.names[k] = s;
        else delete now.names[k];
      });
      showForm(null, "rename");
    });
    $("merge").addEventListener("click", () => {
      // The most likely first: a twin, or what is near on the map of topics.
      const T = data.topicmap, at = (k) => drawnOf(k) - T.topics[0], v = data.topics[topic].verdict;
      const far = (k) => v && v.twin >= 0 && into(v.twin) === k ? -1 : Math.hypot(T.x[at(k)] - T.x[at(topic)], T.y[at(k)] - T.y[at(topic)]);
      $("merge-with").replaceChildren(...by(range(K).filter((k) => alive(k) && k !== topic && !planned(k)), far, true).map((k) => el("option", { value: k }, k + "  " + label(k))));
      showForm("merge");
      $("merge-with").focus();
    });
    forms.merge.addEventListener("submit", (e) => {
      e.preventDefault();
      const k = topic, other = Number($("merge-with").value);
      if ($("merge-with").value !== "" && shareOrder.length > 2) { // a model has two topics at least
        edit(() => {
          const joined = [...membersOf(k), ...membersOf(other)];
          now.merge = now.merge.filter((g) => g[0] !== k && g[0] !== other);
          now.merge.push(joined);
          delete now.names[other];
          const seeds = [...new Set(joined.flatMap((l) => now.seeds[l] || []))];
          for (const l of joined) for (const x of [now.exclude, now.seeds]) delete x[l];
          if (seeds.length) now.seeds[joined[0]] = seeds;
        });
      }
      showForm(null, "merge");
    });
    onTopic.push(() => {
      if (Object.values(forms).some((form) => !form.hidden)) showForm(null);
      const whole = membersOf(topic).length === 1, free = !planned(topic);
      $("rename").disabled = !free;
      $("merge").disabled = !free || left() <= 2;
      $("split").disabled = !whole;
      $("split").textContent = now.split[topic] ? "Do not split" : "Split";
      $("drop").disabled = !whole || free && left() <= 2;
      $("drop").setAttribute("aria-pressed", String(now.drop.includes(topic)));
      editWord(-1);
    });
    // left is how many topics there will be at least. A topic that is split or dropped has no name and no
    // words of its own any more.
    const left = () => shareOrder.length - now.drop.length;
    const plan = (k, parts) => edit(() => {
      delete now.split[k];
      without(now.drop, k);
      if (!isNum(parts)) return;
      delete now.names[k];
      delete now.exclude[k];
      delete now.seeds[k];
      if (parts > 0) now.split[k] = parts;
      else now.drop.push(k);
    });
    $("split").addEventListener("click", () => {
      if (now.split[topic]) {
        plan(topic);
        return;
      }
      showForm("split");
      $("split-parts").focus();
    });
    forms.split.addEventListener("submit", (e) => {
      e.preventDefault();
      plan(topic, Number($("split-parts").value));
      showForm(null, "split");
    });
    $("drop").addEventListener("click", () => plan(topic, now.drop.includes(topic) ? undefined : 0));

    // What may be done with the word that is looked at.
    let word = -1;
    editWord = (w) => {
      word = w;
      $("word-edits").hidden = w < 0;
      if (w < 0) return;
      const is = struck(w, topic), out = $("word-exclude");
      $("word-hide").setAttribute("aria-pressed", String(is === "hidden"));
      $("word-stop").setAttribute("aria-pressed", String(now.stop.includes(words[w])));
      out.setAttribute("aria-pressed", String(is === "kept out"));
      out.disabled = membersOf(topic).length > 1 || !!planned(topic);
      $("word-seed").setAttribute("aria-pressed", String(is === "a seed"));
      $("word-seed").disabled = !!planned(topic);
    };
    const press = (id, lists) => $(id).addEventListener("click", () => {
      const w = word, s = words[w], pressed = $(id).getAttribute("aria-pressed") === "true";
      edit(() => {
        without(now.hide, s);
        without(now.stop, s);
        const ofTopics = [now.exclude, now.seeds];
        for (const x of ofTopics) if (x[topic]) without(x[topic], s);
        if (!pressed) lists().push(s);
        for (const x of ofTopics) for (const k of Object.keys(x)) if (!x[k].length) delete x[k];
      });
      tellWord(w);
      $(id).focus();
    });
    press("word-hide", () => now.hide);
    press("word-stop", () => now.stop);
    press("word-exclude", () => now.exclude[topic] ||= []);
    press("word-seed", () => now.seeds[topic] ||= []);
    $("undo").addEventListener("click", () => {
      now = before.pop();
      apply();
      (before.length ? $("undo") : $("rename")).focus();
    });
    $("edits-save").addEventListener("click", () => {
      const out = { model: data.model };
      for (const [key, x] of Object.entries(now)) if (key !== "seeds" && Object.keys(x).length) out[key] = x;
      download("edits.json", "application/json", JSON.stringify(out, null, 2) + "\n");
    });
    // A line a topic, "name: word word", as the program reads them. Without the name, words name the topic.
    $("seeds-save").addEventListener("click", () => {
      const given = (k) => label(k).includes(" · ") ? "" : label(k).replaceAll(":", " ");
      download("seeds.txt", "text/plain", Object.entries(now.seeds).map(([k, list]) => given(k) + ": " + list.join(" ") + "\n").join(""));
    });
    // The table for print.
    onEdit.push(() => document.querySelectorAll(".static tr[data-topic]").forEach((tr) => {
      const k = Number(tr.dataset.topic);
      tr.hidden = !alive(k);
      tr.cells[1].textContent = percent(data.topics[k].share);
      tr.cells[2].textContent = label(k);
      tr.cells[3].textContent = label(k, 12).replaceAll(" · ", " ");
    }));
  }
