  // ---- saving pictures and tables ----------------------------------------------

  // download saves text or a Blob as a file of the reader's.
  const slug = (s) => s.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "topics";
  const download = (name, type, content) => {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const a = el("a", { href: url, download: slug(document.title) + "-" + name, hidden: true });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  };

  // asCSV writes rows of cells, as the library's tables are written: text that a
  // spreadsheet may take for a formula gets an apostrophe before it; numbers have all
  // their digits, and what is not known is empty.
  const asCSV = (rows) => rows.map((row) => row.map((x) => {
    if (typeof x === "number") return isFinite(x) ? String(x) : "";
    let s = x === null || x === undefined ? "" : String(x);
    if (/^[=+\-@\t\r]/.test(s)) s = "'" + s;
    return /[",\r\n]|^\s/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
  }).join(",") + "\n").join("");

  // rowsOf reads the rows of a table, without cells of the class picture. A cell's
  // data-value is its number in full.
  const rowsOf = (node) => [...node.rows].map((tr) => [...tr.cells].filter((c) => !c.classList.contains("picture"))
    .map((c) => c.dataset.value ? Number(c.dataset.value) : c.dataset.value === "" ? "" : c.textContent.trim()));

  // What an element looks like is written into a picture as attributes, for a file has no
  // style sheet.
  const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
    "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "paint-order"];
  const plain = { "fill-opacity": "1", "stroke-opacity": "1", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter", opacity: "1", "font-style": "normal", "paint-order": "normal", "dominant-baseline": "auto" };
  // standalone returns a drawing on the page as a drawing of its own, of the size at which
  // it is shown, on the colour of the page.
  const standalone = (drawing) => {
    const copy = drawing.cloneNode(true);
    const of = (from, to) => {
      const s = getComputedStyle(from);
      if (s.display === "none" || s.visibility === "hidden") {
        to.remove();
        return;
      }
      for (const name of ["class", "style", "tabindex", "role"]) to.removeAttribute(name);
      if (from !== drawing && from.tagName !== "title") {
        for (const p of looks) {
          const v = s.getPropertyValue(p);
          if (v && v !== plain[p] && (!p.startsWith("font") && p !== "text-anchor" && p !== "dominant-baseline" || from.tagName === "text" || from.tagName === "tspan")) to.setAttribute(p, v);
        }
      }
      const children = [...to.children];
      [...from.children].forEach((c, i) => of(c, children[i]));
    };
    of(drawing, copy);
    const box = drawing.viewBox.baseVal, shown = drawing.getBoundingClientRect();
    const [x, y, w, h] = box && box.width ? [box.x, box.y, box.width, box.height] : [0, 0, shown.width, shown.height];
    const scale = shown.width / w || 1;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("viewBox", [x, y, w, h].join(" "));
    copy.setAttribute("width", Math.round(w * scale));
    copy.setAttribute("height", Math.round(h * scale));
    copy.prepend(svg("rect", { x, y, width: w, height: h, fill: css("--paper") }));
    return copy;
  };
  const asText = (drawing) => '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(drawing) + "\n";
  // rasterise draws a picture at twice the size at which it is shown, as a PNG.
  const rasterise = (drawing, done) => {
    const image = new Image(), w = Number(drawing.getAttribute("width")), h = Number(drawing.getAttribute("height"));
    image.onload = () => {
      const canvas = el("canvas", { width: 2 * w, height: 2 * h });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * w, 2 * h);
      canvas.toBlob(done, "image/png");
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(asText(drawing)); // the policy allows no other
  };

  // captioned puts a title above a picture, and below it what its signs mean, where it is from and when it was
  // saved. legend holds colours and what they are.
  const captioned = (drawing, title, note, legend = []) => {
    const [x, y, w, h] = drawing.getAttribute("viewBox").split(" ").map(Number), wide = Number(drawing.getAttribute("width")), u = w / wide, pad = 14;
    const lines = [], colours = svg("g");
    let line = "";
    for (const word of note.split(/\s+/).filter(Boolean)) {
      if (line && widthOf(line + " " + word, 12) > wide - 2 * pad) lines.push(line), line = "";
      line += (line ? " " : "") + word;
    }
    lines.push(...(line ? [line] : []), document.title + ". Saved on " + new Date().toISOString().slice(0, 10) + ".");
    let at = [pad, 20];
    for (const [colour, s] of legend) {
      const size = 24 + widthOf(s, 12);
      if (at[0] > pad && at[0] + size > wide - pad) at = [pad, at[1] + 18];
      colours.append(svg("circle", { cx: at[0] + 5, cy: at[1] - 4, r: 5, fill: colour }), text({ x: at[0] + 15, y: at[1], "font-size": 12, fill: css("--ink") }, s));
      at[0] += size;
    }
    const top = 38, below = (legend.length ? at[1] + 4 : 0) + 17 * lines.length + 16;
    const out = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: [x, y - top * u, w, h + (top + below) * u].join(" "), width: wide, height: Math.round(h / u) + top + below },
      svg("rect", { x, y: y - top * u, width: w, height: h + (top + below) * u, fill: css("--paper") }));
    colours.setAttribute("transform", `translate(0 ${h / u + top})`);
    const words = svg("g", { transform: `translate(${x} ${y - top * u}) scale(${u})`, "font-family": css("--sans") }, text({ x: pad, y: 24, "font-size": 16, "font-weight": 600, fill: css("--ink") }, fitted(title[0].toUpperCase() + title.slice(1), wide - 2 * pad, 16, 600)), colours,
      ...lines.map((s, i) => text({ x: pad, y: h / u + top + below - 12 - 17 * (lines.length - 1 - i), "font-size": 12, fill: css("--muted") }, s)));
    out.append(...drawing.childNodes, words);
    return out;
  };

  // exportable adds small buttons to a box, or after a table, that save what it shows
  // under a name. what has the functions
  //   svg()    the <svg> that is drawn, or
  //   canvas() the <canvas>, with paint(c, w, h) if it can be painted again, on what
  //            has the methods of its context, in a picture of its size;
  //   note()   what the signs of the picture mean, and legend() its colours;
  //   rows()   rows of cells for CSV, the first of which has the names of the columns.
  const exportable = (box, name, what) => {
    const bar = el("div", { class: "save", role: "group", "aria-label": "Save " + name });
    const button = (kind, f) => bar.append(el("button", { type: "button", "data-save": name + "." + kind.toLowerCase(), "aria-label": "Save " + name + " as " + kind, title: "Save as " + kind, onclick: f }, kind));
    const file = slug(name);
    const png = (blob) => download(file + ".png", "image/png", blob);
    const painted = () => {
      const canvas = what.canvas(), p = new Pen(canvas.clientWidth, canvas.clientHeight);
      what.paint(p, canvas.clientWidth, canvas.clientHeight);
      return p.picture;
    };
    const photographed = () => {
      const canvas = what.canvas(), w = canvas.clientWidth, h = canvas.clientHeight;
      return svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}` }, svg("image", { width: w, height: h, href: canvas.toDataURL("image/png") }));
    };
    const drawing = () => captioned(what.svg ? standalone(what.svg()) : what.paint ? painted() : photographed(), name, what.note ? what.note() : "", what.legend ? what.legend() : []);
    if (what.svg || what.canvas) button("PNG", () => rasterise(drawing(), png));
    if (what.svg || what.paint) button("SVG", () => download(file + ".svg", "image/svg+xml", asText(drawing())));
    if (what.rows) button("CSV", () => download(file + ".csv", "text/csv;charset=utf-8", asCSV(what.rows())));
    if (box.matches("table, .scroll")) box.after(bar);
    else box.append(bar);
    return bar;
  };

  // Pen draws an SVG with those methods of a canvas that the pages' pictures use.
  class Pen {
    constructor(w, h) {
      this.picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width: w, height: h, viewBox: `0 0 ${w} ${h}` }, svg("rect", { width: w, height: h, fill: css("--card") }));
      this.measure = document.createElement("canvas").getContext("2d");
      Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif", textAlign: "left", textBaseline: "alphabetic", lineJoin: "miter", dashes: [] });
    }
    put(tag, props, fill) {
      if (fill) props.fill = this.fillStyle;
      else Object.assign(props, { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linejoin": this.lineJoin });
      if (!fill && this.dashes.length) props["stroke-dasharray"] = this.dashes.join(" ");
      if (this.globalAlpha < 1) props.opacity = this.globalAlpha;
      const e = svg(tag, props);
      this.picture.append(e);
      return e;
    }
    say(text, x, y, fill) {
      const font = /^(?:(\d+|bold) )?([\d.]+px) (.+)$/.exec(this.font) || [, "", "10px", "sans-serif"];
      const e = this.put("text", { x: x.toFixed(1), y: y.toFixed(1), "font-family": font[3], "font-size": font[2], "font-weight": font[1] || "400",
        "text-anchor": { center: "middle", right: "end" }[this.textAlign] || "start", "dominant-baseline": this.textBaseline === "middle" ? "central" : "auto" }, fill);
      e.textContent = text;
    }
    beginPath() { this.path = []; }
    moveTo(x, y) { this.path.push("M" + x.toFixed(1) + " " + y.toFixed(1)); }
    lineTo(x, y) { this.path.push("L" + x.toFixed(1) + " " + y.toFixed(1)); }
    closePath() { this.path.push("Z"); }
    arc(x, y, r) { // a whole circle
      const a = (d) => "a" + r.toFixed(2) + " " + r.toFixed(2) + " 0 1 0 " + d.toFixed(2) + " 0";
      this.path.push("M" + (x - r).toFixed(1) + " " + y.toFixed(1) + a(2 * r) + a(-2 * r) + "Z");
    }
    fill() { this.put("path", { d: this.path.join("") }, true); }
    stroke() { this.put("path", { d: this.path.join("") }); }
    fillRect(x, y, w, h) { this.put("rect", { x: x.toFixed(1), y: y.toFixed(1), width: w.toFixed(1), height: h.toFixed(1) }, true); }
    strokeRect(x, y, w, h) { this.put("rect", { x: x.toFixed(1), y: y.toFixed(1), width: w.toFixed(1), height: h.toFixed(1) }); }
    fillText(text, x, y) { this.say(text, x, y, true); }
    strokeText(text, x, y) { this.say(text, x, y, false); }
    setLineDash(list) { this.dashes = list; }
    measureText(text) {
      this.measure.font = this.font;
      return this.measure.measureText(text);
    }
  }
