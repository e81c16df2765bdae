"use strict";
// Shows judged rows. Texts become text nodes, never markup: nothing here writes HTML.
(async () => {
  const FACETS = ["dataset", "language", "outcome"];
  const FIELDS = ["q", ...FACETS, "size"];
  // vowel signs of Indic scripts are letters' parts, not accents: they stay
  const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g;
  const ALIKE = { "ı": "i", "ß": "ss", "ø": "o", "đ": "d", "ł": "l", "ς": "σ" };
  // controls, turns of direction, what has no width (joiners and marks of direction, which spelling needs, excepted)
  const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\r(?!\n)/gu;

  const $ = (id) => document.getElementById(id);
  const packed = Uint8Array.from(atob($("data").textContent), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(unpacked).json();
  const rows = data.rows.map((values) => Object.fromEntries(data.columns.map((name, at) => [name, values[at]])));
  const body = document.querySelector("#rows tbody");
  let page = 0;
  let shown = rows;

  // --- searching

  function fold(text) {
    const plain = text.toLowerCase().normalize("NFKD").replace(MARKS, "");
    return plain.replace(/[ıßøđłς]/g, (sign) => ALIKE[sign]).replace(/\s+/g, " ");
  }

  function folded(row) {
    const errors = [...row.gold, ...(row.found ?? [])].flatMap((error) => [error.span, error.type]);
    const texts = [row.id, row.culture, row.instruction, row.output, row.gold_explanation, row.found_explanation ?? ""];
    row.folded ??= [...texts, ...errors].map(fold).join("\0");
    return row.folded;
  }

  function values(row, facet) {
    return facet === "outcome" && row.failure !== null ? [row.outcome, `unreadable: ${row.failure}`] : [row[facet]];
  }

  function passes(row, wanted, besides) {
    return FACETS.every((facet) => facet === besides || !wanted[facet] || values(row, facet).includes(wanted[facet]));
  }

  // --- filters: what can be chosen, and how many rows each choice would show

  function options(names) {
    return names.map((value) => Object.assign(document.createElement("option"), { value }));
  }

  function fillFilters() {
    for (const facet of FACETS) {
      const found = [...new Set(rows.flatMap((row) => values(row, facet)))].sort();
      const main = facet === "outcome" ? data.outcomes : found;
      const reasons = make("optgroup", "", ...options(found.filter((name) => !main.includes(name))));
      reasons.label = "unreadable, by reason";
      $(facet).replaceChildren(...options(["", ...main]), ...(reasons.children.length ? [reasons] : []));
    }
  }

  function countChoices(searched, wanted) {
    for (const facet of FACETS) {
      const number = new Map();
      const others = searched.filter((row) => passes(row, wanted, facet));
      for (const row of others) for (const value of values(row, facet)) number.set(value, (number.get(value) ?? 0) + 1);
      for (const option of $(facet).options) {
        option.textContent = option.value ? `${option.value} (${number.get(option.value) ?? 0})` : `all (${others.length})`;
      }
    }
  }

  // --- one row

  function make(tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  }

  function visible(text) {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(UNSEEN)) {
      const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      parts.push(text.slice(at, found.index), make("span", "control", `U+${code}`));
      at = found.index + found[0].length;
    }
    return [...parts, text.slice(at)];
  }

  function foreign(tag, name, ...children) {
    const element = make(tag, name, ...children);
    element.dir = "auto";
    return element;
  }

  function tag(kind, number) {
    const element = make("sup", `tag ${kind}`, `${kind === "gold" ? "G" : "J"}${number}`);
    element.dir = "ltr";
    return element;
  }

  function numbered(kind, errors) {
    return (errors ?? []).map((error, at) => ({ ...error, kind, number: at + 1 }));
  }

  // a text cut wherever an error begins or ends; a piece is in every error that covers it
  function marked(row, where) {
    const text = row[where];
    const errors = [...numbered("gold", row.gold), ...numbered("found", row.found)];
    const here = errors.filter((error) => error.where === where && error.start >= 0);
    const cuts = [...new Set([0, text.length, ...here.flatMap((error) => [error.start, error.end])])].sort((a, b) => a - b);
    const parts = cuts.flatMap((start, at) => {
      const end = cuts[at + 1] ?? start;
      const begin = here.filter((error) => error.start === start).map((error) => tag(error.kind, error.number));
      const over = here.filter((error) => error.start <= start && error.end >= end && end > start);
      const layer = (inside, kind) => {
        const own = over.filter((error) => error.kind === kind);
        const grave = own.some((error) => error.severity === "major") ? "major" : "minor";
        return own.length ? [make("mark", `${kind} ${grave}`, ...inside)] : inside;
      };
      return [...begin, ...layer(layer(visible(text.slice(start, end)), "found"), "gold")];
    });
    return foreign("p", "text judged", ...parts);
  }

  function errorItem(error) {
    const place = error.start < 0 ? `not in the ${error.where}` : `in the ${error.where}`;
    const span = foreign("bdi", "", ...visible(error.span));
    const type = foreign("bdi", "", ...visible(error.type));
    return make("li", "", tag(error.kind, error.number), " “", span, `” ${place}: `, make("b", "", error.severity), ", ", type);
  }

  function report(kind, errors, explanation) {
    const listed = make("ul", "errors", ...numbered(kind, errors).map(errorItem));
    const parts = errors.length ? [listed] : [make("p", "quiet", "No error.")];
    return explanation ? [...parts, make("h3", "", "Explanation"), foreign("p", "text", ...visible(explanation))] : parts;
  }

  function judgeCell(row) {
    if (row.failure !== null) return [make("p", "", "Unreadable: ", make("b", "", row.failure), ". No verdict, no score.")];
    if (row.found === null) return [make("p", "", `Errors found: ${row.errors_found}.`), make("p", "quiet", "This judge writes no report.")];
    const parts = report("found", row.found, row.found_explanation);
    return row.recovered ? [...parts, make("p", "quiet", `Read despite: ${row.recovered}.`)] : parts;
  }

  function signed(number) {
    return number === null ? "none" : String(number).replace("-", "−");
  }

  function rowCell(row) {
    const right = row.outcome === "hit" || row.outcome === "correct rejection";
    const badge = make("span", `outcome ${row.failure !== null ? "unreadable" : right ? "right" : "wrong"}`, row.outcome);
    const link = make("a", "id", ...visible(row.id));
    link.href = `#${new URLSearchParams({ q: row.id })}`;
    const facts = { Dataset: row.dataset, Language: row.language, Culture: row.culture, Origin: row.origin };
    Object.assign(facts, { "Gold score": signed(row.gold_score), Score: signed(row.score) });
    facts["p(R)"] = row.certainty === null ? "none" : row.certainty.toFixed(4);
    const list = Object.entries(facts).flatMap(([name, value]) => [make("dt", "", name), foreign("dd", "", ...visible(value))]);
    return [badge, make("div", "", link), make("dl", "", ...list)];
  }

  function tableRow(row) {
    const texts = ["instruction", "output"].flatMap((where) => [make("h3", "", where), marked(row, where)]);
    const cells = [["", rowCell(row)], ["", texts], ["Gold report", report("gold", row.gold, row.gold_explanation)], ["Judge", judgeCell(row)]];
    const line = make("tr", "", ...cells.map(([head, parts]) => {
      const cell = make("td", "", ...parts);
      cell.setAttribute("role", "cell");
      if (head) cell.dataset.head = head;
      return cell;
    }));
    line.setAttribute("role", "row");
    return line;
  }

  // --- the page

  function draw() {
    const size = Number($("size").value);
    const pages = Math.max(1, Math.ceil(shown.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    body.replaceChildren(...shown.slice(page * size, (page + 1) * size).map(tableRow));
    const kinds = data.outcomes.map((kind) => [kind, shown.filter((row) => row.outcome === kind).length]);
    const sum = kinds.filter(([, number]) => number).map(([kind, number]) => `${number} ${kind}`).join(" + ");
    $("status").textContent = `Shown ${shown.length} of ${rows.length} rows${sum ? `: ${sum}` : ""}.`;
    $("place").textContent = `Page ${page + 1} of ${pages}`;
    $("previous").disabled = page === 0;
    $("next").disabled = page === pages - 1;
  }

  function filter() {
    const wanted = Object.fromEntries(FACETS.map((facet) => [facet, $(facet).value]));
    const needle = fold($("q").value).trim();
    const searched = needle ? rows.filter((row) => folded(row).includes(needle)) : rows;
    shown = searched.filter((row) => passes(row, wanted));
    countChoices(searched, wanted);
    draw();
  }

  function remember() {
    const state = new URLSearchParams();
    for (const name of FIELDS) if ($(name).value && !(name === "size" && $(name).value === "25")) state.set(name, $(name).value);
    if (page) state.set("page", String(page + 1));
    try {
      history.replaceState(null, "", `#${state}`);
    } catch {
      // a page inside a report has no address of its own
    }
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const name of FIELDS) {
      $(name).value = state.get(name) ?? (name === "size" ? "25" : "");
      if ($(name).selectedIndex === -1) $(name).selectedIndex = 0; // a link to what is not here
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
  for (const name of [...FACETS, "size"]) $(name).addEventListener("change", changed);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(changed));
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  window.addEventListener("hashchange", recall);
  fillFilters();
  recall();
})();
