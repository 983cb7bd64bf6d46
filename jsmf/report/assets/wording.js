  // ---- words that groups use more ------------------------------------------------

  // The detail of a topic has its rows of the tables.
  if ($("wording")) {
    const list = el("ul", { class: "plain" }), box = el("div", { class: "docs" }, el("h4", { class: "eyebrow" }, "Wording"), list);
    $("detail").append(box);
    onTopic.push(() => {
      const rows = [...document.querySelectorAll("#wording tr[data-topic]")].filter((r) => into(Number(r.dataset.topic)) === topic);
      list.replaceChildren(...rows.map((r) => {
        const [group, word, ratio, interval] = [...r.querySelectorAll("td")].map((c) => c.textContent);
        return el("li", { dir: "auto" }, el("b", {}, word), " " + group + " ×" + ratio + (interval === "none" ? "" : " (" + interval + ")"));
      }));
      box.hidden = !rows.length;
    });
  }
