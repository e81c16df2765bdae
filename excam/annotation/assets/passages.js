// Texts on the page, with what was changed in them.

const LONG = 50000; // characters; rows of the benchmarks are shorter

function paragraphOf(...parts) {
  const paragraph = foreign("p", "text", ...parts);
  paragraph.classList.toggle("long", paragraph.textContent.length > LONG);
  return paragraph;
}

// a text in pieces; changed ones are marked, as `kind`: "gone" in an original, "new" in a modified text
function passage(pieces, kind, language) {
  const parts = pieces.flatMap(([text, changed]) => {
    if (!changed) return visible(text);
    return [text ? make("mark", kind, ...visible(text)) : gap()];
  });
  const paragraph = paragraphOf(...parts);
  if (language) paragraph.lang = language;
  return paragraph;
}

function gap() {
  const sign = make("span", "gap", "gap");
  sign.dir = "ltr";
  sign.lang = "en";
  sign.title = "No words here; the other side has some.";
  return sign;
}
