"use strict";
// First in the script of every page. Texts are hostile: they become text nodes, never markup; nothing here writes HTML.

// controls, turns of direction, halves of signs, what has no width (joiners and marks of direction, which spelling needs, excepted)
const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]|\r(?!\n)/gu;

const $ = (id) => document.getElementById(id);

// what `packed` of excam/pages packed
async function unpacked() {
  const signs = atob($("data").textContent);
  const packed = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at += 1) packed[at] = signs.charCodeAt(at); // millions: a call for each is slow
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

// what cannot be seen, made visible
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

// somebody else's: its direction is its own
function foreign(tag, name, ...children) {
  const element = make(tag, name, ...children);
  element.dir = "auto";
  return element;
}

