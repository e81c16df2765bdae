// Shows scored pairs, with texts.js and browse.js.
(async () => {
  const FACETS = ["outcome", "verdict", "severity", "type", "language", "culture", "system", "failure", "warning"];
  const MANY = 200; // choices of a filter that one reads; searching finds the others
  const data = await unpackedRows();
  const one = new Set(data.rows.map((row) => row.signature)).size === 1;
  for (const row of data.rows) {
    row.errors = row.errors.map(([where, span, severity, type, start, end], at) => (
      { where, span, severity, type, start, end, kind: "found", name: `${at + 1} ${severity}` }
    ));
  }

  function outcome(row) {
    if (row.failure !== null) return "not judged";
    return row.errors.length ? "with errors" : "without errors";
  }

  function values(row, facet) {
    if (facet === "outcome") return [outcome(row)];
    if (facet === "warning") return row.warnings;
    if (facet === "failure") return row.failure === null ? [] : [row.failure];
    if (facet === "severity" || facet === "type") return [...new Set(row.errors.map((error) => error[facet]))].filter(Boolean);
    return row[facet] ? [row[facet]] : [];
  }

  // the most frequent choices, by name; a filter without any is not shown
  function choices(facet, found) {
    $(facet).closest("label").hidden = !found.size;
    const number = new Map();
    for (const row of data.rows) for (const value of values(row, facet)) number.set(value, (number.get(value) ?? 0) + 1);
    const most = [...found].sort((a, b) => number.get(b) - number.get(a)).slice(0, MANY);
    return options(["", ...most.sort()]);
  }

  function folded(row) {
    const errors = row.errors.flatMap((error) => [error.span, error.type]);
    const texts = [row.id, row.language, row.culture, row.system, row.instruction, row.output, row.explanation, ...errors];
    row.folded ??= fold(texts.join("\0"));
    return row.folded;
  }

  // what could not be judged has no score: it comes last
  function arrange(rows) {
    const key = { worst: "score", doubt: "certainty" }[$("order").value];
    return key ? [...rows].sort((a, b) => (a[key] ?? Infinity) - (b[key] ?? Infinity)) : rows;
  }

  function text(row, where) {
    return marked(row[where], row.errors.filter((error) => error.where === where), ["found"]);
  }

  function rowCell(row) {
    const kind = { "not judged": "unreadable", "with errors": "wrong", "without errors": "right" }[outcome(row)];
    const told = { Score: row.score === null ? "none" : signed(Number(row.score.toFixed(4))) };
    told["p(R)"] = row.certainty === null ? "none" : row.certainty.toFixed(4);
    for (const name of ["language", "culture", "system"]) if (row[name]) told[name[0].toUpperCase() + name.slice(1)] = row[name];
    if (!one) told["Judged as"] = row.signature;
    return [make("span", `outcome ${kind}`, outcome(row)), make("div", "", rowLink(row.id)), facts(told)];
  }

  function reportCell(row) {
    const sure = row.sureness.map((line) => foreign("p", "quiet", ...visible(line)));
    const notes = row.warnings.map((warning) => make("p", "", "Warning: ", make("b", "", ...visible(warning))));
    if (row.failure !== null) return [make("p", "", "Not judged: ", make("b", "", ...visible(row.failure)), ". No score."), ...sure, ...notes];
    if (row.recovered.length) notes.push(make("p", "quiet", ...visible(`Read despite: ${row.recovered.join(", ")}.`)));
    return [...report(row.errors, row.explanation), ...sure, ...notes];
  }

  function show(row) {
    const texts = ["instruction", "output"].flatMap((where) => [make("h3", "", where), text(row, where)]);
    return tableRow([["", rowCell(row)], ["", texts], ["Report", reportCell(row)]]);
  }

  function sum(shown) {
    const kinds = ["with errors", "without errors", "not judged"];
    const number = Object.fromEntries(kinds.map((kind) => [kind, 0]));
    for (const row of shown) number[outcome(row)] += 1;
    return kinds.filter((kind) => number[kind]).map((kind) => `${number[kind]} ${kind}`).join(" + ");
  }

  browse(data.rows, { facets: FACETS, values, choices, folded, show, sum, also: ["order"], arrange });
})();
