  // ---- hierarchy ---------------------------------------------------------------

  document.querySelectorAll(".tree a").forEach((a) => a.addEventListener("click", () => choose(Number(a.dataset.topic))));
  const nameTree = () => {
    for (const a of document.querySelectorAll(".tree a")) {
      const k = Number(a.dataset.topic);
      a.textContent = alive(k) ? label(k) : label(into(k)) + " (made one)";
    }
    for (const group of document.querySelectorAll(".tree [data-largest]")) {
      group.textContent = [...new Set(group.dataset.largest.trim().split(" ").map((k) => short(into(Number(k)))))].join(" · ");
    }
  };
  onEdit.push(nameTree);
  if (document.querySelector(".tree")) {
    const called = (li) => li ? li.querySelector(".tree-name").textContent : "";
    exportable($("hierarchy"), "hierarchy", { rows: () => [["topic or group", "above", "share", say("{words}")],
      ...[...document.querySelectorAll(".tree li")].map((li) => [called(li), called(li.parentElement.closest("li")), Number(li.querySelector(".num").dataset.value), li.querySelector(".tree-words").textContent])] });
  }
