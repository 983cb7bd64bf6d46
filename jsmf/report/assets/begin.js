  // ---- begin -------------------------------------------------------------------

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
