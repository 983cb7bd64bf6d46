  // ---- hierarchy ---------------------------------------------------------------

  document.querySelectorAll(".tree a").forEach((a) => a.addEventListener("click", () => choose(Number(a.dataset.topic))));
  const nameTree = () => document.querySelectorAll(".tree a").forEach((a) => {
    const k = Number(a.dataset.topic);
    a.textContent = alive(k) ? label(k) : label(into(k)) + " (made one)";
  });
  onEdit.push(nameTree);
  if (document.querySelector(".tree")) {
    const called = (li) => li ? li.querySelector(".tree-name").textContent : "";
    exportable($("hierarchy"), "hierarchy", { rows: () => [["topic or group", "above", "share", say("{words}")],
      ...[...document.querySelectorAll(".tree li")].map((li) => [called(li), called(li.parentElement.closest("li")), Number(li.querySelector(".num").dataset.value), li.querySelector(".tree-words").textContent])] });
  }
