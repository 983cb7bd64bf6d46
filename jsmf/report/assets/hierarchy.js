  // ---- hierarchy ---------------------------------------------------------------

  document.querySelectorAll(".tree a").forEach((a) => a.addEventListener("click", () => choose(Number(a.dataset.topic))));
