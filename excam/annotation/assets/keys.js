// The keyboard: every question can be reached and answered with single keys. They can be switched off (WCAG 2.1.4).
// They work on the layout of every language, by the places of keys on a US keyboard.

const KEYS = {
  "0 … 9": "choose in the question with the coloured edge",
  "j, k": "next, previous question",
  r: "reveal the next step",
  c: "to the first empty text of the last step open; Esc leaves a text",
  f: "submit this task",
  "n, p": "next, previous task in view",
  u: "next task to do",
  i: "instructions, and back to the task",
  "?": "this list",
};

function flagKeys() {
  return allQuestions().flatMap((one) => Object.entries(one.keys).map(([column, key]) => [key, column, one.values[column]]));
}

function keysHere() {
  const own = flagKeys().map(([key, , words]) => [key, words]);
  const ways = Object.entries(KEYS).filter(([key]) => (key !== "f" || data.form.submit) && (key !== "r" || data.form.steps.some((step) => step.reveal)));
  return [...ways.slice(0, 2), ...own, ...ways.slice(2)];
}

function questions() {
  return [...document.querySelectorAll("fieldset[data-kind=choice], fieldset[data-kind=scale]")];
}

function openQuestions() {
  return questions().filter((fieldset) => fieldset.offsetParent && !fieldset.disabled);
}

// where the focus is, else the first one without an answer, else the last
function currentQuestion() {
  const open = openQuestions();
  const focused = open.find((fieldset) => fieldset.contains(document.activeElement));
  return focused ?? open.find((fieldset) => !fieldset.querySelector(":checked")) ?? open.at(-1);
}

function focusOn(fieldset) {
  unfold(fieldset);
  (fieldset.querySelector(":checked") ?? fieldset.querySelector("input")).focus();
  fieldset.scrollIntoView({ block: "nearest" });
}

// a scale takes its numbers, a choice the places of its values
function choose(number) {
  const question = currentQuestion();
  const all = [...(question?.querySelectorAll("input") ?? [])];
  const radio = question?.dataset.kind === "scale" ? all.find((one) => one.value === String(number)) : all[number - 1];
  if (!radio) return;
  unfold(question);
  radio.focus();
  radio.click();
}

function moveBy(steps) {
  const open = openQuestions();
  const inside = open.findIndex((fieldset) => fieldset.contains(document.activeElement));
  const from = inside === -1 ? open.indexOf(currentQuestion()) - steps : inside; // first to the current one
  const to = open[Math.min(Math.max(from + steps, 0), open.length - 1)];
  if (to) focusOn(to);
}

function press(id) {
  const element = $(id);
  if (!element.offsetParent || element.disabled) return;
  if (element.type === "checkbox") element.focus();
  element.click();
}

function revealNext() {
  const step = data.form.steps.findIndex((_, at) => $(`reveal-${at + 1}`)?.offsetParent) + 1;
  if (step && $(`reveal-${step}`).disabled) say($(`reveal-${step}-hint`).textContent);
  else if (step) reveal(step);
}

function firstText() {
  const texts = [...document.querySelectorAll("[data-kind=text] textarea")].filter((area) => area.parentElement.offsetParent && !area.disabled);
  const last = texts.at(-1)?.closest(".step");
  const here = texts.filter((area) => area.closest(".step") === last);
  const text = here.find((area) => !trimmed(area.value)) ?? here[0];
  if (!text) return;
  unfold(text.parentElement);
  text.focus();
}

const TASK_KEYS = {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  r: revealNext,
  c: firstText,
  f: () => press("submit"),
  n: () => goBy(1),
  p: () => goBy(-1),
  u: goToDo,
};

function typing(element) {
  return Boolean(element.closest?.("textarea, select, input:not([type=radio], [type=checkbox])"));
}

// to the question in front of a field or, where there is none, to the head of its step
function leaveField(field) {
  const before = openQuestions().filter((one) => one.compareDocumentPosition(field) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (before.length) focusOn(before.at(-1));
  else field.closest(".step").querySelector("h3").focus();
}

// What a key may mean: its own sign, which a form may have chosen, the small letter of it, and what stands in its place
// on a US keyboard: a digit, which may need Shift (AZERTY), or, of a script that is not Latin, a letter.
function meanings({ key, code, shiftKey }) {
  const [, digit, letter] = /^(?:(?:Digit|Numpad)([0-9])|Key([A-Z]))$/.exec(code) ?? [];
  const isLatin = /^\p{Script=Latin}/u.test(key);
  const place = digit ? (shiftKey || /^[A-Za-z]/.test(key) ? "" : digit) : isLatin || !/^[\p{L}\p{M}]/u.test(key) ? "" : letter?.toLowerCase();
  return [key, key.toLowerCase(), place ?? ""];
}

// those of an input method that composes a word (229 where the browser hides it), of the browser and of the system; AltGr types signs
function isForOthers(event) {
  if (event.isComposing || event.keyCode === 229) return true;
  return event.ctrlKey || event.altKey || event.metaKey || event.getModifierState("AltGraph");
}

function pressed(event) {
  if (event.key === undefined || isForOthers(event)) return; // without a key: a browser that fills in a field
  if (event.key === "Escape" && event.target.matches?.("#task textarea, #task input")) leaveField(event.target);
  if (typing(event.target) || document.querySelector("dialog[open]") || !$("keys-on").checked) return;
  const inTasks = !$("view-tasks").hidden && !$("task").hidden;
  const act = meanings(event).map((key) => keyAction(key, inTasks)).find(Boolean);
  if (!act) return;
  event.preventDefault();
  act();
}

function keyAction(key, inTasks) {
  if (key === "?") return () => $("help").showModal();
  if (key === "i") return () => (location.hash = inTasks ? "instructions" : "tasks");
  if (!inTasks) return null;
  if (/^[0-9]$/.test(key)) return () => choose(Number(key));
  if (Object.hasOwn(TASK_KEYS, key)) return TASK_KEYS[key];
  const flag = flagKeys().find(([own]) => own === key) ?? flagKeys().find(([own]) => own.toLowerCase() === key);
  return flag ? () => press(flag[1]) : null;
}

// shows which question a number would answer
function showCurrent() {
  const current = $("keys-on").checked ? currentQuestion() : null;
  for (const fieldset of questions()) fieldset.classList.toggle("current", fieldset === current);
}

function listenToKeys() {
  const list = keysHere().flatMap(([key, does]) => [make("dt", "", make("kbd", "", key)), make("dd", "", does)]);
  $("keys").replaceChildren(...list);
  $("keys-on").checked = stored("excam/keys") !== "off";
  $("keys-on").addEventListener("change", () => {
    store("excam/keys", $("keys-on").checked ? "on" : "off");
    showCurrent();
  });
  $("open-help").addEventListener("click", () => $("help").showModal());
  document.addEventListener("keydown", pressed);
  for (const kind of ["focusin", "focusout", "change", "click", "hashchange"]) {
    window.addEventListener(kind, () => requestAnimationFrame(showCurrent));
  }
}
