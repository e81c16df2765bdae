// Fields of kind span: words of a shown text, marked with a label.

// A text field that takes no input has a cursor and a selection for mouse, touch and keyboard alike; one that
// is `readOnly` has no cursor in Chromium

function spanField(question) {
  const area = make("textarea", "text");
  Object.assign(area, { id: `${question.field}-text`, inputMode: "none", dir: "auto", rows: 4, spellcheck: false });
  area.setAttribute("aria-readonly", "true");
  area.addEventListener("beforeinput", (event) => event.preventDefault());
  area.addEventListener("drop", (event) => event.preventDefault());
  for (const kind of ["input", "compositionend"]) area.addEventListener(kind, () => (area.value = session.task.shown[question.of])); // what input methods compose
  area.setAttribute("aria-label", `${question.label}: select words here`);
  const buttons = Object.entries(question.values).map(([label, words]) => buttonOf("", [words], () => markSelection(question, label), { id: `${question.field}-${label}` }));
  const list = make("ul", "marks");
  list.id = `${question.field}-marks`;
  const hint = make("p", "hint", "Select words in the text (mouse, finger, or Shift with the arrow keys), then press what they are.");
  return group(question, hint, area, make("div", "row", ...buttons), list);
}

function drawSpan(question) {
  const area = $(`${question.field}-text`);
  area.value = session.task.shown[question.of];
  area.lang = session.task.tag;
  area.rows = Math.min(14, Math.max(3, Math.ceil(area.value.length / 70) + area.value.split("\n").length - 1));
}

function markSelection(question, label) {
  const area = $(`${question.field}-text`);
  const count = (units) => [...area.value.slice(0, units)].length; // of characters, as Python counts them
  const [start, end] = [count(area.selectionStart), count(area.selectionEnd)];
  if (start === end) {
    area.focus();
    return say("No words are selected in the text; select some first.");
  }
  const marks = answerHere()[question.field];
  if (area.value !== session.task.shown[question.of].replace(/\r\n?/g, "\n")) return drawSpan(question);
  if (marks.some((mark) => sameValue(mark, [start, end, label]))) return say("These words are marked like this already.");
  if (marks.length >= question.marks && question.marks > 1) return say(`There are ${marks.length} marks already; no more can be made here.`);
  const kept = question.marks > 1 ? marks : []; // where one is asked for, the new one replaces it
  const sorted = [...kept, [start, end, label]].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  return change({ [question.field]: sorted });
}

function fillSpan(question, marks) {
  if (isDrawn($(`${question.field}-marks`), marks)) return;
  const text = [...session.task.shown[question.of]];
  const lines = marks.map((mark) => {
    const [start, end, label] = mark;
    const words = foreign("q", "", ...visible(text.slice(start, end).join("")));
    words.lang = session.task.tag;
    const remove = () => {
      change({ [question.field]: marks.filter((other) => other !== mark) });
      $(`${question.field}-text`).focus();
    };
    const button = buttonOf("", ["Remove"], remove);
    button.setAttribute("aria-label", `Remove the mark ${question.values[label]} on ${text.slice(start, end).join("")}`);
    return make("li", "", make("b", "", question.values[label]), " ", words, " ", button);
  });
  $(`${question.field}-marks`).replaceChildren(...lines);
}
