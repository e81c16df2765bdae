// The task on the screen: what the form shows of it, its steps, and what is shown when.

const STEP_HINT = "Answer what is asked before first.";
const NARROW = matchMedia("(max-width: 46rem)");
const WIDE = { 1: "", 2: "two", 3: "three", 4: "two" };

// --- the form, once

function makeForm() {
  $("legend").hidden = !data.form.shows.some((part) => part.show === "changes");
  $("shows").replaceChildren(...data.form.shows.map(showPlace));
  $("steps").replaceChildren(...data.form.steps.map((step, at) => makeStep(step, at + 1)));
  allQuestions().forEach(makeFold);
  const fold = () => ($("open-list").open = $("more").open = !NARROW.matches);
  NARROW.addEventListener("change", fold);
  fold();
  $("submit").addEventListener("click", submit);
  $("reset").addEventListener("click", reset);
}

function makeStep(step, number) {
  const head = make("h3", "", make("span", "number", String(number)), ` ${step.title}`);
  Object.assign(head, { id: `step-${number}-head`, tabIndex: -1 });
  const section = make("section", "card step", head);
  section.id = `step-${number}`;
  section.setAttribute("aria-labelledby", head.id);
  if (step.intro) section.append(make("p", "", step.intro));
  if (step.left) section.append(Object.assign(make("p", "hint left", step.left), { hidden: true }));
  section.append(...step.blocks.map(makeBlock), makeReveal(number + 1));
  return section;
}

// the button that opens step `number`, at the end of the one before
function makeReveal(number) {
  const { reveal: words } = data.form.steps[number - 1] ?? {};
  if (!words) return "";
  const button = buttonOf("main", [words], () => reveal(number), { id: `reveal-${number}` });
  const hint = make("span", "hint", STEP_HINT);
  hint.id = `reveal-${number}-hint`;
  const row = make("div", "row reveal", button, " ", hint);
  row.id = `gate-${number}`;
  return row;
}

function makeBlock(block) {
  if (block.columns) {
    const columns = block.columns.map((blocks) => make("div", "", ...blocks.map(makeBlock)));
    return make("div", `beside ${WIDE[columns.length] ?? "three"}`, ...columns);
  }
  return block.show ? showPlace(block) : FIELDS[block.kind].make(block);
}

const showPlaces = []; // [what to show, its place on the page]

function showPlace(part) {
  const beside = part.of.length > 1 && part.show !== "fact"; // facts have a grid of their own
  const place = make("div", `show ${part.show} ${beside ? `beside ${WIDE[part.of.length] ?? "three"}` : ""}`.trim());
  showPlaces.push([part, place]);
  return place;
}

// --- what a task shows

function boxOf(part, place, at, content) {
  const label = part.labels[at];
  const box = make("section", part.show === "quote" ? "" : "box");
  if (label) {
    const head = make(place.closest(".step") ? "h4" : "h3", "", label);
    box.setAttribute("aria-label", label);
    box.append(head);
  }
  box.append(content);
  return box;
}

function textOf(name, inTaskLanguage) {
  const paragraph = paragraphOf(...visible(session.task.shown[name]));
  if (inTaskLanguage && session.task.tag) paragraph.lang = session.task.tag;
  return paragraph;
}

function contentOf(part, name, at) {
  const value = session.task.shown[name];
  if (part.show === "changes") return passage(value, part.marks[at] ?? "new", session.task.tag);
  if (part.show === "quote") return make("blockquote", "", value === null ? paragraphOf(part.words) : textOf(name));
  return textOf(name, part.show === "text");
}

function drawShow([part, place]) {
  const { shown } = session.task;
  if (part.show === "note") return place.replaceChildren(make("p", "hint", part.words));
  if (part.show === "filled" || part.show === "mean") return undefined; // at each change
  const names = part.of.filter((name) => name in shown);
  place.hidden = !names.length;
  if (part.show === "fact") {
    const facts = names.map((name) => [part.labels[part.of.indexOf(name)] ?? facetWords(name), foreign("dd", "", ...visible(shown[name] ?? part.words))]);
    return place.replaceChildren(make("dl", "provided", ...facts.map(([label, value]) => make("div", "", make("dt", "", label), value))));
  }
  return place.replaceChildren(
    ...names.map((name) => {
      const content = contentOf(part, name, part.of.indexOf(name));
      content.id = `shown-${name}`;
      return boxOf(part, place, part.of.indexOf(name), content);
    }),
  );
}

// a template with its [SLOTS] replaced in one pass: a value is never searched for slots
function filled(template, answer, fields) {
  const values = Object.assign({}, ...fields.map((name) => answer[name]));
  return template.split(/(\[[^[\]]+\])/).map((piece) => {
    const slot = piece.startsWith("[") ? piece.slice(1, -1) : null;
    if (slot === null || !Object.hasOwn(values, slot) || !trimmed(values[slot])) return slot === null ? piece : make("span", "gap", piece);
    return make("b", "", ...visible(values[slot]));
  });
}

function refreshShow([part, place], answer) {
  if (part.show === "filled") {
    const names = part.of.filter((name) => name in session.task.shown);
    const boxes = names.map((name) => boxOf(part, place, part.of.indexOf(name), paragraphOf(...filled(session.task.shown[name], answer, part.by))));
    place.replaceChildren(...boxes);
  } else if (part.show === "mean") {
    const mean = weightedMean(Object.fromEntries(part.by.map((name) => [name, part.weights[part.by.indexOf(name)] ?? 1])), answer);
    place.replaceChildren(make("p", "mean", `${part.labels[0] ?? "Mean"}: `, make("b", "", mean === null ? "not all are rated yet" : String(mean))));
  }
}

function drawTask() {
  const { task } = session;
  $("task-id").textContent = task.id;
  for (const name of data.form.facets) $(`task-${name}`).textContent = facetOf(task, name);
  showPlaces.forEach(drawShow);
  for (const question of allQuestions()) FIELDS[question.kind].draw?.(question);
  $("others").hidden = true;
  refresh();
  unfoldFirst();
}

// redraw everything that depends on answers; texts stay
function refresh() {
  const { task } = session;
  if (!task) return;
  const answer = answerHere();
  fillIn(answer);
  fillFolds(answer);
  showPlaces.forEach((place) => refreshShow(place, answer));
  showSteps(answer);
  showSubmission(answer);
  refreshControls();
  showClock();
  const status = statusOf(answer);
  $("task-status").textContent = { todo: "to do", done: "done", skipped: "skipped" }[status];
  $("task-status").dataset.status = status;
}

function fillIn(answer) {
  for (const question of allQuestions()) {
    if (question.kind === "flags") for (const name of columnsOf(question)) $(name).checked = answer[name];
    else FIELDS[question.kind].fill(question, answer[question.field]);
  }
}

function showSteps(answer) {
  const open = openStep(answer);
  const steps = stepsAnswered(answer);
  data.form.steps.forEach((step, at) => {
    const number = at + 1;
    $(`step-${number}`).hidden = open < number;
    if (step.left) $(`step-${number}`).querySelector(".left").hidden = open <= number;
    if (!step.reveal) return;
    $(`gate-${number}`).hidden = open >= number || isSkipped(answer);
    $(`reveal-${number}`).disabled = steps < number - 1;
    $(`reveal-${number}-hint`).hidden = steps >= number - 1;
  });
  for (const question of allQuestions()) closeSkipped(question, isSkipped(answer));
  const done = { done: "Every question of this task is answered.", skipped: "This task is skipped." }[statusOf(answer)];
  $("finished").hidden = !done;
  $("finished").textContent = !done ? "" : isAllDone() ? doneLine() : data.form.submit ? `Submitted. ${done}` : done;
}

// of a skipped task only optional texts and the box that skips it can be changed
function closeSkipped(question, skipped) {
  if (question.kind === "flags") {
    for (const name of columnsOf(question)) $(name).disabled = skipped && name !== data.form.skip;
  } else if (question.kind === "text") $(question.field).disabled = skipped && !question.optional;
  else document.querySelector(`fieldset[data-field="${question.field}"]`).disabled = skipped;
}

// --- what is still open, and what others answered

function showSubmission(answer) {
  $("submission").hidden = !data.form.submit;
  if (!data.form.submit) return;
  const open = openPlaces(session.task, answer);
  $("open-list").hidden = !open.length;
  $("open-count").textContent = `Still open: ${open.length}`;
  if (!isDrawn($("open-points"), open)) $("open-points").replaceChildren(...open.map(openPoint));
  $("submit").disabled = answer.submitted;
  $("reset").textContent = session.cleared.has(answer.task) ? "Bring back what was cleared" : "Clear this task";
  $("submit-hint").textContent = answer.submitted ? "Submitted. You can still change it." : open.length ? "" : "All questions are answered.";
  if (answer.submitted && isCompared(session.task)) showOthers(session.task);
  else $("others").hidden = true;
}

// a line of what is open, which leads to its question
function openPoint({ field, line, wrong }) {
  return make("li", "", buttonOf(wrong ? "jump problem" : "jump", [line], () => goToField(field)));
}

// to the question of a column; to the button that reveals its step, where that is not open yet
function goToField(column) {
  const { field } = questionOf(column);
  const place = document.querySelector(`[data-field="${field}"]`);
  const shown = place.getClientRects().length ? place : (document.querySelector(".reveal:not([hidden])") ?? $("task-head"));
  if (NARROW.matches) $("open-list").open = false; // it would cover the question
  if (shown === place) unfold(place);
  shown.scrollIntoView({ block: "start" });
  const control = shown.querySelector("input:enabled, textarea:enabled, button:enabled:not(.unfold), [tabindex]") ?? $("task-head");
  control.focus({ preventScroll: true });
}

function isCompared(task) {
  const { compare } = data.form;
  return Boolean(data.served && compare && Object.entries(compare.when).every(([name, kept]) => kept.includes(facetOf(task, name))));
}

async function showOthers(task) {
  if (!$("others").hidden && $("others").dataset.task === task.id) return;
  const { status, body } = await session.keeper.ask(`/answers/${task.id}/others`, {});
  if (status !== 200 || session.task !== task) return; // it is not on the server yet: the next refresh asks again
  const names = data.form.compare.fields;
  const head = names.map((name) => Object.assign(make("th", "", fieldLabel(name)), { scope: "col" }));
  $("others-columns").replaceChildren(make("tr", "", ...head));
  const cell = (name, answer) => foreign("td", "", ...visible(valueShown(name, answer[name], task)));
  const rows = body.answers.map((answer) => make("tr", "", ...names.map((name) => cell(name, answer))));
  const none = make("tr", "", Object.assign(make("td", "", "Nobody else has submitted this task yet."), { colSpan: names.length }));
  $("others-rows").replaceChildren(...(rows.length ? rows : [none]));
  $("others").dataset.task = task.id;
  $("others").hidden = false;
}
