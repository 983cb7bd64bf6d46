  // ---- begin -------------------------------------------------------------------

  document.querySelectorAll("table[data-save]").forEach((t) => exportable(t.closest(".scroll") || t, t.dataset.save, { rows: () => rowsOf(t) }));
  let width = innerWidth;
  addEventListener("resize", frame(() => {
    if (innerWidth === width) return; // the bars of a phone come and go
    width = innerWidth;
    for (const f of redraws) f();
  }));
  listTopics();
  setLambda();
  restoreEdits();
  choose(topic);
  themeNow();

  // The address says what is shown, so that it can be sent: #topic-21&filter=…&groups=…&text=…&by.COLUMN=…
  let told = location.hash;
  const tellAddress = frame(() => {
    if (location.hash !== told) return; // somebody has changed it, and it is about to be read
    const p = new URLSearchParams();
    if (filter.value.trim()) p.set("filter", filter.value.trim());
    if (together.picked) p.set("together", together.picked.join("."));
    if (alike.cut) p.set("groups", alike.cut);
    if (docs) docs.tell(p);
    const hash = "#topic-" + topic + (p.size ? "&" + p : "");
    if (hash !== told) history.replaceState(null, "", hash);
    told = location.hash;
  });
  const readAddress = () => {
    told = location.hash;
    const [at, ...rest] = location.hash.slice(1).split("&"), p = new URLSearchParams(rest.join("&")), k = /^topic-\d+$/.test(at) ? Number(at.slice(6)) : -1;
    if (rest.length) {
      filter.value = p.get("filter") || "";
      listTopics();
      if (p.has("together")) together.picked = p.get("together").split(".").filter((s) => /^\d+$/.test(s) && s < K).map(Number).slice(0, 8);
      together.draw();
      if (/^\d+$/.test(p.get("groups"))) alike.cut = Number(p.get("groups"));
      alike.draw();
      if (docs) docs.take(p);
    }
    if (k >= 0 && k < K) open(k);
  };
  readAddress();
  addEventListener("hashchange", readAddress);
  onTopic.push(tellAddress);
  onTold.push(tellAddress);
  filter.addEventListener("input", tellAddress);
  if (docs) docs.onChosen.push(tellAddress);
  root.dataset.ready = "true";
