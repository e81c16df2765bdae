// The keyboard: every question can be reached and answered with single keys. They can be switched off (WCAG 2.1.4).

const KEYS = {
  "1 … 6": "choose in the question with the coloured edge",
  "j, k": "next, previous question",
  b: "borderline",
  l: "I don't speak this language",
  r: "reveal the next step",
  "s, t": "severity, error type is reasonable",
  c: "to the comment of the last step open; Esc leaves it",
  "n, p": "next, previous task in view",
  u: "next task to do",
  i: "instructions, and back to the task",
  "?": "this list",
};

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
  (fieldset.querySelector(":checked") ?? fieldset.querySelector("input")).focus();
  fieldset.scrollIntoView({ block: "nearest" });
}

function choose(number) {
  const radio = currentQuestion()?.querySelectorAll("input")[number - 1];
  if (!radio) return;
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
  const step = [2, 3].find((one) => $(`reveal-${one}`).offsetParent);
  if (step && $(`reveal-${step}`).disabled) say($(`reveal-${step}-hint`).textContent);
  else if (step) reveal(step);
}

const TASK_KEYS = {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  b: () => press("borderline"),
  l: () => press("skipped"),
  r: revealNext,
  s: () => press("severity_ok"),
  t: () => press("type_ok"),
  c: () => ($("step-2").hidden ? $("comment_1") : $("comment_2")).focus(),
  n: () => goBy(1),
  p: () => goBy(-1),
  u: goToDo,
};

function typing(element) {
  return Boolean(element.closest?.("textarea, select, input:not([type=radio], [type=checkbox])"));
}

function pressed(event) {
  if (event.key === "Escape" && data.comments.includes(event.target.id)) focusOn(currentQuestion());
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || typing(event.target)) return;
  if (document.querySelector("dialog[open]") || !$("keys-on").checked) return;
  const inTasks = !$("view-tasks").hidden && !$("task").hidden;
  const act = keyAction(event.key, inTasks);
  if (!act) return;
  event.preventDefault();
  act();
}

function keyAction(key, inTasks) {
  if (key === "?") return () => $("help").showModal();
  if (key === "i") return () => (location.hash = inTasks ? "instructions" : "tasks");
  if (!inTasks) return null;
  return /^[1-6]$/.test(key) ? () => choose(Number(key)) : Object.hasOwn(TASK_KEYS, key) ? TASK_KEYS[key] : null;
}

// shows which question a number would answer
function showCurrent() {
  const current = $("keys-on").checked ? currentQuestion() : null;
  for (const fieldset of questions()) fieldset.classList.toggle("current", fieldset === current);
}

function listenToKeys() {
  const list = Object.entries(KEYS).flatMap(([key, does]) => [make("dt", "", make("kbd", "", key)), make("dd", "", does)]);
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
