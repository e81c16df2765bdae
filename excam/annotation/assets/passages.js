// Texts on the page. They are hostile: they become text nodes, never markup, and nothing here writes HTML.

const $ = (id) => document.getElementById(id);

// controls, turns of direction, what has no width (joiners and marks of direction, which spelling needs, excepted)
const INVISIBLE =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\r(?!\n)/gu;

function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

// what cannot be seen, made visible
function plainly(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(INVISIBLE)) {
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(text.slice(at, found.index), make("span", "control", `U+${code}`));
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}

const LONG = 50000; // characters; rows of the benchmarks are shorter

// a paragraph of somebody else's: its direction is its own
function foreign(...parts) {
  const paragraph = make("p", "text", ...parts);
  paragraph.classList.toggle("long", paragraph.textContent.length > LONG);
  paragraph.dir = "auto";
  return paragraph;
}

// a text in pieces; changed ones are marked, as `kind`: "gone" in an original, "new" in a modified text
function passage(pieces, kind, language) {
  const parts = pieces.flatMap(([text, changed]) => {
    if (!changed) return plainly(text);
    return [text ? make("mark", kind, ...plainly(text)) : gap()];
  });
  const paragraph = foreign(...parts);
  if (language) paragraph.lang = language;
  return paragraph;
}

function gap() {
  const sign = make("span", "gap", "gap");
  sign.dir = "ltr";
  sign.lang = "en";
  sign.title = "Nothing stands here; the other side has words.";
  return sign;
}
