/* Parts of sections: elements, sortable tables, legends, figures. Texts from the data only become text nodes, so they
   cannot contain markup. */

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const colour = (name) => `var(${name})`;

/* A section: its title, a sentence that explains it, and its parts. The navigation links to it. */
function section(id, title, lead, ...parts) {
  const made = element("section", {id, "aria-labelledby": id + "-title"}, element("h2", {id: id + "-title"}, title),
                       lead ? element("p", {class: "lead"}, lead) : null, ...parts);
  document.getElementById("main").append(made);
  document.getElementById("contents").append(element("a", {href: "#" + id}, title));
  return made;
}

function legend(entries) {
  return element("ul", {class: "legend"}, ...entries.map((entry) =>
    element("li", {}, element("i", {style: `background:${colour(entry.colour)}`, class: entry.mark}), entry.label)));
}

/* Figures are redrawn when their width changes. */
const figures = [];
function figure(caption, entries, draw, label) {
  const room = element("div");
  const made = element("figure", {}, element("figcaption", {}, caption), entries ? legend(entries) : null, room);
  figures.push({room, draw, label, width: 0});
  return made;
}
function drawFigures() {
  for (const drawn of figures) {
    const width = Math.floor(drawn.room.clientWidth);
    if (!width || width === drawn.width || !drawn.room.isConnected) continue;
    drawn.width = width;
    const plot = drawn.draw(width);
    if (!plot) continue;
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", drawn.label);
    drawn.room.replaceChildren(plot);
  }
}

/* A table. Columns: {title, value(row), show(row), kind: "n" for numbers, note}. A heading is a button that sorts;
   a second click reverses the order. Rows without a value are last. */
function table(columns, rows, options = {}) {
  let by = options.sort ?? -1, down = options.down ?? true;
  const body = element("tbody");
  const headings = columns.map((column, i) => element("th", {class: column.kind === "n" ? "n" : null, scope: "col", title: column.note},
    element("button", {type: "button", on: {click: () => { down = by === i ? !down : column.kind === "n"; by = i; fill(); }}}, column.title)));
  function compare(a, b) {
    const x = columns[by].value(a), y = columns[by].value(b);
    const lacking = (value) => value === null || value === undefined || value !== value;
    if (lacking(x) || lacking(y)) return lacking(x) - lacking(y);
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", {numeric: true});
    return down ? -order : order;
  }
  function fill() {
    const shown = rows.filter(options.filter || (() => true));
    if (by >= 0) shown.sort(compare);
    headings.forEach((heading, i) => (i === by ? heading.setAttribute("aria-sort", down ? "descending" : "ascending")
                                               : heading.removeAttribute("aria-sort")));
    body.replaceChildren(...shown.slice(0, options.most ?? shown.length).map((row) => {
      const line = element("tr", {class: options.mark && options.mark(row) ? "best" : null});
      for (const column of columns) {
        const cell = element("td", {class: [column.kind, column.class].filter(Boolean).join(" ") || null});
        const shownAs = column.show ? column.show(row) : column.value(row);
        cell.append(shownAs ?? "–");
        if (typeof shownAs === "string" && shownAs.length > 40) cell.title = shownAs;
        if (column.style) column.style(cell, row);
        line.append(cell);
      }
      return line;
    }));
  }
  fill();
  const made = element("div", {class: ["scroll", options.high && "high", options.dense && "dense"].filter(Boolean).join(" "), tabindex: options.high ? "0" : null},
    element("table", {}, options.caption ? element("caption", {class: "note"}, options.caption) : null,
            element("thead", {}, element("tr", {}, ...headings)), body));
  made.refill = fill;
  return made;
}

/* A small bar of the parts of a whole, next to a text. */
function stackBar(counts, parts) {
  const whole = d3.sum(parts, (part) => sum(counts, part.of));
  const words = parts.map((part) => [part.label, ratio(sum(counts, part.of), whole)]).filter(([, share]) => share >= 0.005)
    .sort((a, b) => b[1] - a[1]).map(([label, share]) => `${label} ${percent(share)}`).join(", ");
  return element("div", {class: "stack", role: "img", "aria-label": words, title: words}, ...parts.map((part) =>
    element("span", {style: `width:${100 * (ratio(sum(counts, part.of), whole) || 0)}%;background:${colour(part.colour)}`})));
}

/* Stacked bars of shares, one for each name: rows of {name, label, share, colour}. */
function shareBars(rows, width, options = {}) {
  const names = [...new Set(rows.map((row) => row.name))];
  const left = Math.min(width / 3, 14 + 7 * d3.max(names, (name) => name.length)), room = Math.floor((left - 14) / 7);
  return Plot.plot({width, height: 46 + 30 * names.length, marginTop: 6, marginLeft: left, marginRight: 20, marginBottom: 36,
    x: {label: options.unit || "share, % →", percent: !options.unit, grid: true, tickSpacing: 60, nice: true, domain: options.unit ? undefined : [0, 100]}, y: {label: null, domain: names, tickFormat: (name) => cutTo(name, room)},
    marks: [Plot.barX(rows, {x: "share", y: "name", fill: (row) => colour(row.colour), order: null, inset: 0.5, rx: 1,
                             title: (row) => `${row.name}: ${row.label} ${options.unit ? fixed(row.share) : percent(row.share)}`})]});
}

/* For rows of cells above each other: the height of each row, and the rows that get a name. */
const rowsHigh = (rows) => Math.max(5, Math.min(22, 420 / rows));
const namedRows = (names) => names.filter((_, i) => rowsHigh(names.length) >= 14 || i % Math.ceil(24 / rowsHigh(names.length)) === 0);

const cutTo = (text, most) => (text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text);
const choose = (label, names, act) => element("label", {}, label + " ", element("select", {on: {change: (event) => act(Number(event.target.value))}},
  ...names.map((name, i) => element("option", {value: i}, cutTo(String(name), 60)))));
