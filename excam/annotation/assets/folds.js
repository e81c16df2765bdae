// On a narrow screen one question is open at a time; each other one is a line: what it asks, and what was answered. The
// style sheet hides the rest there and nowhere else, so that a wide screen and paper show everything. Boxes to tick are
// never hidden, since an empty one is an answer.

function foldPlaces() {
  return [...document.querySelectorAll("#steps .folds")].filter((place) => place.offsetParent);
}

function makeFold(question) {
  if (question.kind === "flags") return;
  const place = document.querySelector(`#steps [data-field="${question.field}"]`);
  place.classList.add("folds");
  const button = buttonOf("unfold", [make("span", "", question.label), make("span", "hint")], () => {
    unfold(place);
    (place.querySelector(":checked:enabled") ?? place.querySelector("input:enabled, textarea:enabled, button:enabled:not(.unfold)"))?.focus({ preventScroll: true });
  });
  if (place.firstElementChild.tagName === "LEGEND") place.firstElementChild.after(button);
  else place.prepend(button);
  // a tap on a choice answers the question: the next one opens. Arrow keys pass over choices and do not end it.
  place.addEventListener("pointerdown", () => (place.dataset.tapped = "yes"));
  place.addEventListener("keydown", () => delete place.dataset.tapped);
  place.addEventListener("change", () => {
    if (["choice", "scale"].includes(question.kind) && place.dataset.tapped && NARROW.matches) unfoldNext(place);
  });
}

function unfold(place) {
  document.querySelectorAll("#steps .open").forEach((other) => other.classList.toggle("open", other === place));
  place.classList.add("open");
  if (NARROW.matches) place.scrollIntoView({ block: "nearest" });
}

function isBlankPlace({ dataset }) {
  return isBlank(answerHere()[dataset.field]);
}

// An optional question is opened too: whoever has nothing to say taps the one after it.
function unfoldNext(place) {
  const blank = foldPlaces().filter(isBlankPlace);
  const next = blank.find((other) => place.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) ?? blank[0];
  if (next) unfold(next);
}

// of a task that was just drawn, or of a step that was just revealed, the first question without an answer is open
function unfoldFirst() {
  document.querySelectorAll("#steps .open").forEach((place) => place.classList.remove("open"));
  foldPlaces().find(isBlankPlace)?.classList.add("open");
}

function foldedAnswer({ field, optional }, answer) {
  if (isBlank(answer[field])) return optional ? "optional" : "not answered";
  return valueShown(field, answer[field], session.task);
}

function fillFolds(answer) {
  for (const question of allQuestions().filter(({ kind }) => kind !== "flags")) {
    const button = document.querySelector(`#steps [data-field="${question.field}"] > .unfold`);
    button.lastElementChild.replaceChildren(...visible(foldedAnswer(question, answer)));
    button.parentElement.classList.toggle("blank", isRequired(question) && !isAnswered(question, answer));
  }
}
