  // ---- overview ----------------------------------------------------------------

  {
    const ribbon = $("ribbon");
    const shown = shareOrder.filter((k) => data.topics[k].share > 0);
    const all = sum(shown.map((k) => data.topics[k].share));
    const blocks = shown.map((k) => {
      const s = data.topics[k].share;
      const b = el("span", { title: name(k) + ", " + percent(s) + ": " + label(k), onclick: () => open(k) });
      b.style.flexGrow = String(s / all * 1000);
      b.append(el("i", {}, short(k)));
      return b;
    });
    ribbon.append(...blocks);
    redraws.push(() => blocks.forEach((b) => { // names that fit
      const text = document.createRange();
      text.selectNodeContents(b.firstChild);
      b.firstChild.style.visibility = text.getBoundingClientRect().width + 13 > b.getBoundingClientRect().width ? "hidden" : "visible";
    }));
    ribbon.setAttribute("aria-label", "Shares of the topics, the largest first: " + shown.slice(0, 5).map((k) => short(k) + " " + percent(data.topics[k].share)).join(", ") + (K > 5 ? " and others, listed below" : ""));
    onTopic.push(() => blocks.forEach((b, i) => b.classList.toggle("on", shown[i] === topic)));
  }
