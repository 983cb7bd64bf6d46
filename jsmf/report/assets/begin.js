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
  choose(topic);
  themeNow();
  root.dataset.ready = "true";
