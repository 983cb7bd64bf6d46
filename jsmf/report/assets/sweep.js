  // ---- number of topics --------------------------------------------------------

  if (data.sweep) {
    for (const c of data.sweep.curves.filter((c) => c.draw)) {
      chart(c.name, c.what + (c.better === "neither" ? "" : " (" + c.better + " is better)"), c.values, false, "curves", data.sweep.k, K);
    }
  }
