// Shows judged rows against gold, with texts.js and browse.js.
(async () => {
  const data = await unpackedRows();

  function folded(row) {
    const errors = [...row.gold, ...(row.found ?? [])].flatMap((error) => [error.span, error.type]);
    const texts = [row.id, row.culture, row.instruction, row.output, row.gold_explanation, row.found_explanation ?? ""];
    row.folded ??= [...texts, ...errors].map(fold).join("\0");
    return row.folded;
  }

  function values(row, facet) {
    return facet === "outcome" && row.failure !== null ? [row.outcome, `unreadable: ${row.failure}`] : [row[facet]];
  }

  function choices(facet, found) {
    const main = facet === "outcome" ? data.outcomes : [...found].sort();
    const reasons = make("optgroup", "", ...options([...found].filter((name) => !main.includes(name)).sort()));
    reasons.label = "unreadable, by reason";
    return [...options(["", ...main]), ...(reasons.children.length ? [reasons] : [])];
  }

  function numbered(kind, errors) {
    return (errors ?? []).map((error, at) => ({ ...error, kind, name: `${kind === "gold" ? "G" : "J"}${at + 1}` }));
  }

  function text(row, where) {
    const errors = [...numbered("gold", row.gold), ...numbered("found", row.found)];
    return marked(row[where], errors.filter((error) => error.where === where), ["found", "gold"]);
  }

  function judgeCell(row) {
    if (row.failure !== null) return [make("p", "", "Unreadable: ", make("b", "", row.failure), ". No verdict, no score.")];
    if (row.found === null) return [make("p", "", `Errors found: ${row.errors_found}.`), make("p", "quiet", "This judge writes no report.")];
    const parts = report(numbered("found", row.found), row.found_explanation);
    return row.recovered ? [...parts, make("p", "quiet", `Read despite: ${row.recovered}.`)] : parts;
  }

  function rowCell(row) {
    const right = row.outcome === "hit" || row.outcome === "correct rejection";
    const badge = make("span", `outcome ${row.failure !== null ? "unreadable" : right ? "right" : "wrong"}`, row.outcome);
    const told = { Dataset: row.dataset, Language: row.language, Culture: row.culture, Origin: row.origin };
    Object.assign(told, { "Gold score": signed(row.gold_score), Score: signed(row.score) });
    told["p(R)"] = row.certainty === null ? "none" : row.certainty.toFixed(4);
    return [badge, make("div", "", rowLink(row.id)), facts(told)];
  }

  function show(row) {
    const texts = ["instruction", "output"].flatMap((where) => [make("h3", "", where), text(row, where)]);
    const gold = report(numbered("gold", row.gold), row.gold_explanation);
    return tableRow([["", rowCell(row)], ["", texts], ["Gold report", gold], ["Judge", judgeCell(row)]]);
  }

  function sum(shown) {
    const kinds = data.outcomes.map((kind) => [kind, shown.filter((row) => row.outcome === kind).length]);
    return kinds.filter(([, number]) => number).map(([kind, number]) => `${number} ${kind}`).join(" + ");
  }

  browse(data.rows, { facets: ["dataset", "language", "outcome"], values, choices, folded, show, sum });
})();
