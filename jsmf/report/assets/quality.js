  // ---- measures by topic -------------------------------------------------------

  {
    const doubt = (k, f) => data.topics[k].doubt ? f(data.topics[k].doubt) : null;
    const percentOf = (x) => isNum(x) ? 100 * x : null;
    table($("bytopic"), [
      { name: "Topic", num: false, value: (k) => k, show: (k) => link(k, k + "  " + label(k)), csv: [["topic", (k) => k], ["name", label]] },
      ...(data.topics.some((t) => t.verdict) ? [{ name: "Verdict", what: "What the topic is worth to a reader, and why", value: verdictOf, show: verdictOf }] : []),
      ...data.columns.map((c) => ({ name: c.name, what: c.what, num: true, value: (k) => c.values[k], show: (k) => show(c.values[k]) })),
      ...(data.uncertainty ? [
        { name: "Low, %", what: "The lower end of the interval of the share", num: true, value: (k) => doubt(k, (u) => percentOf(u.share[0])), show: (k) => show(doubt(k, (u) => percentOf(u.share[0]))) },
        { name: "High, %", what: "The upper end of the interval of the share", num: true, value: (k) => doubt(k, (u) => percentOf(u.share[1])), show: (k) => show(doubt(k, (u) => percentOf(u.share[1]))) },
        { name: "Comes back", what: "The part of the fits from the beginning that have this topic", num: true, value: (k) => doubt(k, (u) => u.stability), show: (k) => percent(doubt(k, (u) => u.stability), 0) },
      ] : []),
    ], () => range(K).filter(alive), data.topics.some((t) => t.verdict) ? 2 : 1, true, (k) => k === topic);
  }
