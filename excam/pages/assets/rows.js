// Lists the rows that row_browser.py packed: search, filters that count what each choice would show, pages, and an
// address for every view.
(async () => {
  // vowel signs of Indic scripts are parts of letters, not accents: they stay
  const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g;
  const ALIKE = { "ı": "i", "ß": "ss", "ø": "o", "đ": "d", "ł": "l", "ς": "σ" };
  const KINDS = ["error", "found", "gold"]; // of marks, from the innermost to the outermost
  const LONG = 600; // characters of a text; of a longer one, the parts around its marks are shown first
  const AROUND = 120;
  const BEGINNING = 300;
  const MANY = 200; // choices of a filter; other values are found by searching
  const { filters, orders, columns, lists, rows: packed } = await unpacked();
  const fields = ["q", ...filters.map(({ name }) => name), ...(orders.length ? ["order"] : []), "size"];
  const rows = packed.map(([id, outcome, tone, facts, texts, reports, numbers, keys]) => {
    const values = Object.fromEntries(filters.map(({ name }, at) => [name, lists[numbers[at]]]));
    return { id, outcome, tone, facts, texts, reports, values, keys, folded: null };
  });
  const bars = [...document.querySelectorAll("button.bar")];
  let page = 0;
  let shown = rows;

  function fold(text) {
    const plain = text.toLowerCase().normalize("NFKD").replace(MARKS, "");
    return plain.replace(/[ıßøđłς]/g, (sign) => ALIKE[sign]).replace(/\s+/g, " ");
  }

  function folded(row) {
    const reports = row.reports.flatMap(([errors, explanation, notes, passages]) => [explanation, ...notes, ...passages.flat(), ...(errors ?? []).flatMap((error) => [error[3], error[5]])]);
    row.folded ??= fold([row.id, ...Object.values(row.facts), ...Object.values(row.texts), ...reports].join("\0"));
    return row.folded;
  }

  // the place of the sign that a cut falls into: not between its halves, nor before its vowel signs and accents
  function beforeSign(text, at) {
    const first = Math.max(0, at - 20);
    while (at > first && /[\udc00-\udfff\p{M}\u200d]/u.test(text[at] ?? "")) at -= 1;
    return at;
  }

  // the ranges of a long text that are shown: around its marks, or its beginning
  function excerpts(text, errors) {
    const near = errors.filter((error) => error.start >= 0).sort((a, b) => a.start - b.start);
    const found = [];
    for (const { start, end } of near.length ? near : [{ start: 0, end: BEGINNING - AROUND }]) {
      const [from, to] = [Math.max(0, start - AROUND), Math.min(text.length, end + AROUND)].map((at) => beforeSign(text, at));
      if (found.length && from <= found.at(-1)[1]) found.at(-1)[1] = Math.max(to, found.at(-1)[1]);
      else found.push([from, to]);
    }
    return found;
  }

  function judged(text, errors) {
    if (text.length <= LONG) return [marked(text, errors, [[0, text.length]])];
    const short = marked(text, errors, excerpts(text, errors));
    const button = make("button", "whole", `Whole text (${text.length.toLocaleString("en")} characters)`);
    button.type = "button";
    button.addEventListener("click", () => {
      short.replaceWith(marked(text, errors, [[0, text.length]]));
      button.remove();
    });
    return [short, button];
  }

  // a text cut wherever an error begins or ends; a piece is marked once for each kind of error that covers it
  function marked(text, errors, ranges) {
    const here = errors.filter((error) => error.start >= 0);
    const cuts = [...new Set([0, text.length, ...ranges.flat(), ...here.flatMap((error) => [error.start, error.end])])].sort((a, b) => a - b);
    const parts = cuts.flatMap((start, at) => {
      const end = cuts[at + 1] ?? start;
      if (end > start && !ranges.some(([from, to]) => from <= start && end <= to)) return [make("span", "quiet", " … ")];
      const over = here.filter((error) => error.start <= start && error.end >= end && end > start);
      const layer = (inside, kind) => {
        const own = over.filter((error) => error.kind === kind);
        const severity = own.some((error) => error.severity === "major") ? "major" : "minor";
        return own.length ? [make("mark", `${kind} ${severity}`, ...inside)] : inside;
      };
      return [...here.filter((error) => error.start === start).map(tag), ...KINDS.reduce(layer, visible(text.slice(start, end)))];
    });
    return foreign("p", "text judged", ...parts);
  }

  function tag(error) {
    const element = make("sup", `tag ${error.kind}`, error.tag);
    element.dir = "ltr";
    return element;
  }

  function errorItem(error) {
    const place = error.start < 0 ? `not in the ${error.where}` : `in the ${error.where}`;
    const span = foreign("bdi", "", ...visible(error.span));
    const type = foreign("bdi", "", ...visible(error.type));
    return make("li", "", tag(error), " “", span, `” ${place}: `, make("b", "", error.severity), ", ", type);
  }

  // a passage that a report cites, unfolded on demand; an id that is a web address leads there
  function citation([id, text]) {
    const name = /^https?:\/\//.test(id) ? Object.assign(make("a", "cited"), { href: id, rel: "noreferrer" }) : make("span", "cited");
    name.append(...visible(id));
    return text ? make("details", "passage", make("summary", "", name), foreign("p", "text", ...visible(text))) : make("div", "", name);
  }

  function reportCell({ errors, explanation, notes, passages }) {
    const parts = errors?.length ? [make("ul", "errors", ...errors.map(errorItem))] : errors ? [make("p", "quiet", "No error.")] : [];
    if (explanation) parts.push(make("h2", "", "Explanation"), foreign("p", "text", ...visible(explanation)));
    parts.push(...notes.map((note) => foreign("p", "", ...visible(note))));
    return passages.length ? [...parts, make("h2", "", "Evidence"), ...passages.map(citation)] : parts;
  }

  function rowCell(row) {
    const link = make("a", "id", ...visible(row.id));
    link.href = `#${new URLSearchParams({ q: row.id })}`;
    const facts = Object.entries(row.facts).flatMap(([name, value]) => [make("dt", "", name), foreign("dd", "", ...visible(value))]);
    return [make("span", `outcome ${row.tone}`, row.outcome), make("div", "", link), make("dl", "", ...facts)];
  }

  function show(row) {
    const reports = row.reports.map(([found, explanation, notes, passages]) => {
      const errors = found?.map(([kind, label, where, span, severity, type, start, end]) => ({ kind, tag: label, where, span, severity, type, start, end }));
      return { errors, explanation, notes, passages };
    });
    const errors = reports.flatMap((report) => report.errors ?? []);
    const texts = Object.entries(row.texts).flatMap(([where, text]) => (
      [make("h2", "", where), ...judged(text, errors.filter((error) => error.where === where))]
    ));
    const cells = [rowCell(row), texts, ...reports.map(reportCell)].map((parts, at) => {
      const cell = make("td", "", ...parts);
      cell.setAttribute("role", "cell");
      if (at > 1) cell.dataset.head = columns[at - 2]; // shown where the table is too narrow for columns
      return cell;
    });
    const line = make("tr", "", ...cells);
    line.setAttribute("role", "row");
    return line;
  }

  function counted(among, name) {
    const number = new Map();
    for (const row of among) for (const value of row.values[name]) number.set(value, (number.get(value) ?? 0) + 1);
    return number;
  }

  function options(values) {
    return values.map((value) => Object.assign(document.createElement("option"), { value }));
  }

  // the fixed choices, then the most frequent others by name; a filter without choices is not shown
  function fillSelect({ name, choices, others }) {
    const number = counted(rows, name);
    const most = [...number.keys()].filter((value) => !choices.includes(value));
    most.sort((a, b) => number.get(b) - number.get(a)).splice(MANY);
    const group = make(others ? "optgroup" : "template", "", ...options(most.sort()));
    group.label = others;
    const more = others && most.length ? [group] : group.children;
    $(name).replaceChildren(...options(["", ...choices]), ...more);
    $(name).closest("label").hidden = !number.size;
  }

  function passes(row, wanted, besides) {
    return wanted.every(([name, value]) => name === besides || row.values[name].includes(value));
  }

  function countChoices(searched, wanted) {
    for (const { name } of filters) {
      const others = searched.filter((row) => passes(row, wanted, name));
      const number = counted(others, name);
      for (const option of $(name).options) {
        option.textContent = option.value ? `${option.value} (${number.get(option.value) ?? 0})` : `all (${others.length})`;
      }
    }
  }

  // a row without a value of the key comes last
  function arranged(some) {
    const key = orders.length ? $("order").value : "";
    return key ? [...some].sort((a, b) => (a.keys[key] ?? Infinity) - (b.keys[key] ?? Infinity)) : some;
  }

  // the bars of the charts that are filters now, and a button for each filter that removes it
  function showActive() {
    for (const bar of bars) bar.setAttribute("aria-pressed", String($(bar.dataset.filter).value === JSON.parse(bar.dataset.value)));
    const removals = filters.filter(({ name }) => $(name).value).map(({ name }) => {
      const button = make("button", "", `${$(name).labels[0].firstChild.data.trim()}: `, foreign("bdi", "", ...visible($(name).value)), " ×");
      button.type = "button";
      button.setAttribute("aria-label", `Remove the filter ${button.textContent.slice(0, -2)}`);
      button.addEventListener("click", () => {
        $(name).value = "";
        changed();
        $("status").focus({ preventScroll: true });
      });
      return button;
    });
    $("active").hidden = !removals.length;
    $("active").replaceChildren("Filtered by ", ...removals);
  }

  function draw() {
    const size = Number($("size").value);
    const pages = Math.max(1, Math.ceil(shown.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    document.querySelector("#rows tbody").replaceChildren(...shown.slice(page * size, (page + 1) * size).map(show));
    const outcomes = filters.find(({ name }) => name === "outcome").choices;
    const kinds = outcomes.map((kind) => [kind, shown.filter((row) => row.values.outcome.includes(kind)).length]);
    const sum = kinds.filter(([, number]) => number).map(([kind, number]) => `${number} ${kind}`).join(" + ");
    $("status").textContent = `Shown ${shown.length} of ${rows.length} rows${sum && ": "}${sum}.`;
    $("place").textContent = `Page ${page + 1} of ${pages}`;
    $("previous").disabled = page === 0;
    $("next").disabled = page === pages - 1;
  }

  function filter() {
    const wanted = filters.map(({ name }) => [name, $(name).value]).filter(([, value]) => value);
    const needle = fold($("q").value).trim();
    const searched = needle ? rows.filter((row) => folded(row).includes(needle)) : rows;
    shown = arranged(searched.filter((row) => passes(row, wanted)));
    countChoices(searched, wanted);
    showActive();
    draw();
  }

  function remember() {
    const state = new URLSearchParams();
    for (const name of fields) if ($(name).value && !(name === "size" && $(name).value === "25")) state.set(name, $(name).value);
    if (page) state.set("page", String(page + 1));
    try {
      history.replaceState(null, "", `#${state}`);
    } catch {
      // a page inside a report has no address of its own
    }
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const name of fields) {
      $(name).value = state.get(name) ?? (name === "size" ? "25" : "");
      if ($(name).selectedIndex === -1) $(name).selectedIndex = 0; // a link to a choice that is not here
    }
    page = (Number(state.get("page")) || 1) - 1;
    filter();
  }

  function changed() {
    page = 0;
    filter();
    remember();
  }

  function turn(by) {
    page += by;
    draw();
    remember();
    $("status").focus();
  }

  let waiting;
  $("q").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(changed, 150);
  });
  for (const name of fields.slice(1)) $(name).addEventListener("change", changed);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(changed));
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  for (const bar of bars) bar.addEventListener("click", () => {
    const [select, value] = [$(bar.dataset.filter), JSON.parse(bar.dataset.value)];
    select.value = select.value === value ? "" : value;
    changed();
  });
  const isWide = matchMedia("(min-width: 60rem)").matches; // else the rows come first
  document.querySelector(".selects").open = isWide || !bars.length;
  document.querySelectorAll(".folded").forEach((charts) => (charts.open = isWide));
  window.addEventListener("hashchange", recall);
  filters.forEach(fillSelect);
  recall();
})();
