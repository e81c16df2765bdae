// Shared by the pages that show judged texts.
// vowel signs of Indic scripts are letters' parts, not accents: they stay
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g;
const ALIKE = { "ı": "i", "ß": "ss", "ø": "o", "đ": "d", "ł": "l", "ς": "σ" };

// the rows of a page, each value by the name of its column
async function unpackedRows() {
  const data = await unpacked();
  return { ...data, rows: data.rows.map((values) => Object.fromEntries(data.columns.map((name, at) => [name, values[at]]))) };
}

function fold(text) {
  const plain = text.toLowerCase().normalize("NFKD").replace(MARKS, "");
  return plain.replace(/[ıßøđłς]/g, (sign) => ALIKE[sign]).replace(/\s+/g, " ");
}

// what stands where an error begins; the page says by what name
function tag(error) {
  const element = make("sup", `tag ${error.kind}`, error.name);
  element.dir = "ltr";
  return element;
}

// a text cut wherever an error begins or ends; a piece is in every error that covers it, `kinds` from the inside out
function marked(text, errors, kinds) {
  const here = errors.filter((error) => error.start >= 0);
  const cuts = [...new Set([0, text.length, ...here.flatMap((error) => [error.start, error.end])])].sort((a, b) => a - b);
  const parts = cuts.flatMap((start, at) => {
    const end = cuts[at + 1] ?? start;
    const begin = here.filter((error) => error.start === start).map(tag);
    const over = here.filter((error) => error.start <= start && error.end >= end && end > start);
    const layer = (inside, kind) => {
      const own = over.filter((error) => error.kind === kind);
      const grave = own.some((error) => error.severity === "major") ? "major" : "minor";
      return own.length ? [make("mark", `${kind} ${grave}`, ...inside)] : inside;
    };
    return [...begin, ...kinds.reduce(layer, visible(text.slice(start, end)))];
  });
  return foreign("p", "text judged", ...parts);
}

function errorItem(error) {
  const place = error.start < 0 ? `not in the ${error.where}` : `in the ${error.where}`;
  const span = foreign("bdi", "", ...visible(error.span));
  const type = foreign("bdi", "", ...visible(error.type));
  return make("li", "", tag(error), " “", span, `” ${place}: `, make("b", "", error.severity), ", ", type);
}

function report(errors, explanation) {
  const listed = make("ul", "errors", ...errors.map(errorItem));
  const parts = errors.length ? [listed] : [make("p", "quiet", "No error.")];
  return explanation ? [...parts, make("h3", "", "Explanation"), foreign("p", "text", ...visible(explanation))] : parts;
}

function facts(named) {
  return make("dl", "", ...Object.entries(named).flatMap(([name, value]) => [make("dt", "", name), foreign("dd", "", ...visible(value))]));
}

function rowLink(id) {
  const link = make("a", "id", ...visible(id));
  link.href = `#${new URLSearchParams({ q: id })}`;
  return link;
}

function signed(number) {
  return number === null ? "none" : String(number).replace("-", "−");
}

function tableRow(cells) {
  const line = make("tr", "", ...cells.map(([head, parts]) => {
    const cell = make("td", "", ...parts);
    cell.setAttribute("role", "cell");
    if (head) cell.dataset.head = head;
    return cell;
  }));
  line.setAttribute("role", "row");
  return line;
}
