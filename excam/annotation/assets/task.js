// The task on the screen: its texts, its three steps, and what is shown when.

const BOXES = ["gone", "new", "gone", "new"]; // A, C, B, D
const NOTHING_FOUND = "No error was detected.";

function choice(name, value, label, at) {
  const radio = make("input");
  Object.assign(radio, { type: "radio", name, value, id: `${name}-${value}` });
  radio.addEventListener("change", () => change({ [name]: value }));
  return make("label", "choice", radio, make("span", "", label), make("kbd", "", String(at + 1)));
}

function questions() {
  return [...document.querySelectorAll("fieldset[data-field]")];
}

function makeQuestions() {
  for (const fieldset of questions()) {
    const name = fieldset.dataset.field;
    fieldset.append(...Object.entries(data.choices[name]).map(([value, label], at) => choice(name, value, label, at)));
  }
  for (const name of ["borderline", "severity_ok", "type_ok"]) {
    $(name).addEventListener("change", () => change({ [name]: $(name).checked }));
  }
  for (const name of data.comments) {
    $(name).maxLength = data.limits.comment;
    $(name).addEventListener("input", () => change({ [name]: writable($(name).value) }));
  }
  $("skipped").addEventListener("change", () => skip($("skipped").checked));
  for (const step of [2, 3]) $(`reveal-${step}`).addEventListener("click", () => reveal(step));
}

function drawTask() {
  const { task } = session;
  $("task-id").textContent = task.id;
  $("task-dataset").textContent = task.dataset;
  $("task-language").textContent = task.language;
  task.boxes.forEach((pieces, at) => $(`box-${at}`).replaceChildren(passage(pieces, BOXES[at], task.tag)));
  $("explanation").replaceChildren(paragraphOf(...visible(task.explanation)));
  $("severity").textContent = task.severity;
  $("error_type").replaceChildren(...visible(task.error_type));
  task.comparisons.forEach((text, at) => {
    $(`again-${at + 1}`).replaceChildren(paragraphOf(...visible(task.explanation)));
    $(`other-${at + 1}`).replaceChildren(paragraphOf(...visible(text ?? NOTHING_FOUND)));
  });
  refresh();
}

// redraw everything that depends on answers; texts stay
function refresh() {
  const { task } = session;
  if (!task) return;
  const answer = answerHere();
  fillIn(answer);
  showSteps(answer);
  refreshControls();
  const status = statusOf(answer);
  $("task-status").textContent = { todo: "to do", done: "done", skipped: "skipped" }[status];
  $("task-status").dataset.status = status;
}

function fillIn(answer) {
  for (const name of data.steps.flat()) {
    for (const radio of document.getElementsByName(name)) radio.checked = radio.value === answer[name];
  }
  for (const name of data.flags) $(name).checked = answer[name];
  for (const name of data.comments) {
    const text = answer[name].replace(/\r\n?/g, "\n"); // as the field would have it: setting it would move the cursor
    if ($(name).value !== text && writable($(name).value) !== text) $(name).value = text;
  }
}

function showSteps(answer) {
  const open = openStep(answer);
  const steps = stepsAnswered(answer);
  for (const step of [2, 3]) {
    $(`step-${step}`).hidden = open < step;
    $(`gate-${step}`).hidden = open >= step || answer.skipped;
    $(`reveal-${step}`).disabled = steps < step - 1;
    $(`reveal-${step}-hint`).hidden = steps >= step - 1;
  }
  $("revealed-note").hidden = open < 2;
  $("borderline").disabled = answer.skipped;
  for (const name of data.steps[0]) {
    document.querySelector(`[data-field=${name}]`).disabled = answer.skipped;
  }
  const done = { done: "Every question of this task is answered.", skipped: "This task is skipped." }[statusOf(answer)];
  $("finished").hidden = !done;
  $("finished").textContent = done ?? "";
}

// --- two versions of one task (served form)

function valueShown(name, value) {
  if (name in data.choices) return data.choices[name][value] ?? "not answered";
  if (data.flags.includes(name)) return value ? "ticked" : "not ticked";
  return name === "saved" && value ? clock(value) : String(value);
}

function fieldLabel(name) {
  const other = { seconds: "Seconds on the screen", saved: "Saved" };
  const label = document.querySelector(`[data-field=${name}] legend, label[for=${name}]`);
  return other[name] ?? label.firstChild.textContent.trim();
}

function conflictRow(name, mine, theirs) {
  const head = make("th", "", fieldLabel(name));
  head.scope = "row";
  const cells = [mine, theirs].map((answer) => {
    const cell = make("td", "", ...visible(valueShown(name, answer[name])));
    cell.dir = "auto";
    return cell;
  });
  return make("tr", mine[name] !== theirs[name] && !["seconds", "saved"].includes(name) ? "differs" : "", head, ...cells);
}

function offerConflict() {
  const { keeper } = session;
  $("decide").hidden = !keeper.postponed?.size;
  const [task] = [...(keeper.conflicts?.keys() ?? [])].filter((id) => !keeper.postponed.has(id));
  if (!task || $("conflict").open) return;
  const [mine, theirs] = [keeper.answers.get(task), keeper.conflicts.get(task).answer];
  const differs = (name) => mine[name] !== theirs[name];
  const asked = data.fields.filter((name) => !["task", "annotator", "saved", "seconds"].includes(name));
  const names = ["saved", ...asked.filter(differs), ...asked.filter((name) => !differs(name)), "seconds"];
  $("conflict-task").textContent = task;
  $("conflict-rows").replaceChildren(...names.map((name) => conflictRow(name, mine, theirs)));
  const decide = (act) => () => {
    $("conflict").close();
    act();
    offerConflict();
  };
  $("keep-mine").onclick = decide(() => keeper.keepMine(task));
  $("take-other").onclick = decide(() => keeper.takeOther(task));
  $("decide-later").onclick = decide(() => keeper.postpone(task));
  $("conflict").oncancel = () => keeper.postpone(task);
  $("conflict").showModal();
}
