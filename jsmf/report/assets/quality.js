  // ---- measures by topic -------------------------------------------------------

  table($("bytopic"), [
    { name: "Topic", num: false, value: (k) => k, show: (k) => link(k, k + "  " + label(k)), csv: [["topic", (k) => k], ["name", label]] },
    ...data.columns.map((c) => ({ name: c.name, what: c.what, num: true, value: (k) => c.values[k], show: (k) => show(c.values[k]) })),
  ], () => range(K).filter(alive), 1, true, (k) => k === topic);
