// Shared by the pages that list rows: search, filters that say how many rows each choice would show, pages, an address
// for every view. A page gives its rows and how it shows one:
//   facets   names of its <select>s, in order
//   values   (row, facet) -> the choices that this row belongs to
//   choices  (facet, found) -> nodes for the <select>, of what was found in all rows
//   folded   row -> what is searched, folded
//   show     row -> <tr>
//   sum      rows -> what the status says of them
//   also     names of further <select>s, without choices of ours, and
//   arrange  rows -> rows, in the order that they ask for
function browse(rows, { facets, values, choices, folded, show, sum, also = [], arrange = (rows) => rows }) {
  const fields = ["q", ...facets, ...also, "size"];
  const body = document.querySelector("#rows tbody");
  let page = 0;
  let shown = rows;

  function passes(row, wanted, besides) {
    return wanted.every(([facet, value]) => facet === besides || values(row, facet).includes(value));
  }

  function countChoices(searched, wanted) {
    for (const facet of facets) {
      const number = new Map();
      const others = searched.filter((row) => passes(row, wanted, facet));
      for (const row of others) for (const value of values(row, facet)) number.set(value, (number.get(value) ?? 0) + 1);
      for (const option of $(facet).options) {
        option.textContent = option.value ? `${option.value} (${number.get(option.value) ?? 0})` : `all (${others.length})`;
      }
    }
  }

  function draw() {
    const size = Number($("size").value);
    const pages = Math.max(1, Math.ceil(shown.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    body.replaceChildren(...shown.slice(page * size, (page + 1) * size).map(show));
    const told = sum(shown);
    $("status").textContent = `Shown ${shown.length} of ${rows.length} rows${told ? `: ${told}` : ""}.`;
    $("place").textContent = `Page ${page + 1} of ${pages}`;
    $("previous").disabled = page === 0;
    $("next").disabled = page === pages - 1;
  }

  function filter() {
    const wanted = facets.map((facet) => [facet, $(facet).value]).filter(([, value]) => value);
    const needle = fold($("q").value).trim();
    const searched = needle ? rows.filter((row) => folded(row).includes(needle)) : rows;
    shown = arrange(searched.filter((row) => passes(row, wanted)));
    countChoices(searched, wanted);
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
  for (const name of [...facets, ...also, "size"]) $(name).addEventListener("change", changed);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(changed));
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  window.addEventListener("hashchange", recall);
  for (const facet of facets) $(facet).replaceChildren(...choices(facet, new Set(rows.flatMap((row) => values(row, facet)))));
  recall();
}

function options(names) {
  return names.map((value) => Object.assign(document.createElement("option"), { value }));
}
