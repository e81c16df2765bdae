// What is shown of the campaign: filters, the way from task to task, progress, files in and out, and the views.

const STATUS_VIEWS = { all: "All fixed tasks", todo: "To do", done: "Done", skipped: "Skipped" };
const MOST_SKIPS = 12; // of one person
const EXPORT_EVERY = 10; // finished tasks

function fits(task) {
  const wanted = $("status").value;
  return (
    data.form.facets.every((name) => !$(name).value || facetOf(task, name) === $(name).value) &&
    (wanted === "all" || statusOf(answers().get(task.id)) === wanted)
  );
}

// the tasks in view, in the campaign's order; that on the screen stays until one leaves it
function inView() {
  return data.tasks.filter((task) => task === session.task || fits(task));
}

// the next one to do in view behind a task, else the first one in view
function nextToDo(task) {
  const open = data.tasks.filter((one) => one !== task && fits(one) && statusOf(answers().get(one.id)) === "todo");
  return open.find((one) => one.place > (task?.place ?? 0)) ?? open[0];
}

function progressLine() {
  const total = data.tasks.length;
  const finished = data.tasks.filter((task) => statusOf(answers().get(task.id)) !== "todo").length;
  return `You finished ${finished} of ${total} tasks (${Math.floor((100 * finished) / total)}%)`;
}

function isAllDone() {
  return data.tasks.every((task) => statusOf(answers().get(task.id)) !== "todo");
}

function doneLine() {
  const next = data.served ? "Your answers are with the study; you can close this page." : "Now press Export JSON (above) and send the file to the organisers.";
  return `You are done. ${next}`;
}

function show(element, text) {
  element.hidden = !text;
  if (element.textContent !== text) element.textContent = text; // an unchanged line is not announced again
}

function refreshControls() {
  const view = inView();
  const at = view.indexOf(session.task);
  $("task-place").textContent = `${at + 1} / ${view.length}`;
  if (document.activeElement !== $("number")) $("number").value = at + 1;
  $("number").max = view.length;
  $("previous").disabled = at <= 0;
  $("next").disabled = at === view.length - 1;
  $("next-to-do").disabled = !nextToDo(session.task);
  const all = [...answers().values()];
  $("progress").max = data.tasks.length;
  $("progress").value = all.filter((answer) => statusOf(answer) !== "todo").length;
  show($("progress-text"), progressLine());
  const skips = all.filter(isSkipped).length;
  show($("skips"), skips > MOST_SKIPS ? `You skipped ${skips} tasks; at most ${MOST_SKIPS} are expected of one person. Please tell the organisers.` : "");
  remindOfExport(all);
  refreshPauses();
  const { line, trouble } = session.keeper.state();
  $("saved").textContent = line;
  document.documentElement.style.setProperty("--bar", `${$("bar").offsetHeight}px`); // what is fixed at the bottom
  show($("trouble"), trouble);
}

// in the file form alone: there the only copy is in this browser
function remindOfExport(all) {
  const fresh = all.filter((answer) => statusOf(answer) !== "todo" && answer.saved > session.notice.exported).length;
  const tens = EXPORT_EVERY * Math.floor(fresh / EXPORT_EVERY);
  const line = `At least ${tens} tasks were finished since your last export. Export JSON now: this browser holds the only copy.`;
  show($("reminder"), tens && !data.served ? line : "");
}

// --- going to a task

function goTo(task) {
  location.hash = `task-${task.id}`;
  route(); // at once: the event of a new address comes later than a fast next key
}

function goBy(steps) {
  const view = inView();
  const task = view[view.indexOf(session.task) + steps];
  if (task) goTo(task);
}

function goToDo() {
  const task = nextToDo(session.task);
  if (task) goTo(task);
  else say(isAllDone() ? doneLine() : "Nothing is left to do in this view.");
}

function showTask(task) {
  tick();
  session.task = task;
  tick();
  remember();
  drawTask();
  const view = inView();
  const status = $("task-status").textContent;
  const named = data.form.facets.map((name) => facetOf(task, name));
  say(`Task ${view.indexOf(task) + 1} of ${view.length}: ${[...named, status].join(", ")}.`);
  scrollTo(0, $("task").getBoundingClientRect().top + scrollY - 8);
  $("task-head").focus({ preventScroll: true });
}

function filtered() {
  const view = data.tasks.filter(fits);
  $("none").hidden = view.length > 0;
  $("task").hidden = view.length === 0;
  if (view.length && !view.includes(session.task)) {
    tick();
    session.task = view[0];
    tick();
    drawTask();
    history.replaceState(null, "", `#task-${session.task.id}`);
  }
  remember();
  refresh();
  say(`${view.length} of ${data.tasks.length} tasks in this view.`);
}

// --- views: the address tells which one

function route() {
  session.routed = location.hash;
  const anchor = session.routed.slice(1);
  const named = data.tasks.find((task) => anchor === `task-${task.id}`);
  // before all answers are loaded, a change would be made on top of none and replace one that was not sent yet
  const loaded = Boolean(session.keeper) && $("loading").hidden;
  const tasks = loaded && session.task && (named !== undefined || anchor === "tasks");
  $("start").hidden = Boolean(session.keeper);
  $("view-tasks").hidden = $("bar").hidden = !tasks;
  $("view-instructions").hidden = tasks;
  for (const [id, here] of [["to-tasks", tasks], ["to-instructions", !tasks]]) {
    if (here) $(id).setAttribute("aria-current", "page");
    else $(id).removeAttribute("aria-current");
  }
  tick();
  if (tasks) {
    $("none").hidden = true;
    $("task").hidden = false;
    showTask(named ?? session.task);
  } else if (anchor === "tasks") $("annotator").focus();
  else if (anchor === "instructions") $("instructions-head").focus();
  else if (anchor) $(anchor)?.scrollIntoView();
}

// --- filters and buttons

function filters() {
  return [...data.form.facets, "status"];
}

function facetWords(name) {
  return name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
}

function makeFilters() {
  for (const name of data.form.facets) {
    const choice = make("select");
    choice.id = name;
    $("facets").append(make("label", "", `${facetWords(name)} `, choice));
    const value = make("b");
    value.id = `task-${name}`;
    value.dir = "auto";
    $("task-facets").append(make("span", "", `${facetWords(name)}: `, value), " ");
  }
  $("status").replaceChildren(...Object.entries(STATUS_VIEWS).map(([value, label]) => new Option(label, value)));
}

function fillFilters() {
  for (const facet of data.form.facets) {
    const found = [...new Set(data.tasks.map((task) => facetOf(task, facet)))].sort();
    const many = (value) => data.tasks.filter((task) => facetOf(task, facet) === value).length;
    const all = new Option(`All (${data.tasks.length})`, "");
    $(facet).replaceChildren(all, ...found.map((value) => new Option(`${value} (${many(value)})`, value)));
  }
}

function exportAs(kind) {
  const name = `${data.campaign}-${session.annotator}.${kind}`;
  if (kind === "csv") download(name, toCsv(answers()), "text/csv;charset=utf-8");
  else download(name, toJson(answers()), "application/json");
  remind({ exported: new Date().toISOString() });
  say(`Exported ${answers().size} answers as ${name}.`);
}

async function importChosen() {
  const [file] = $("import-file").files;
  $("import-file").value = "";
  if (!file) return;
  if (file.size > LARGEST_BACKUP) say(`Nothing was imported. The file has ${file.size} bytes; expected at most ${LARGEST_BACKUP}.`);
  else importBackup(await file.text());
}

function listenToControls() {
  for (const name of filters()) $(name).addEventListener("change", filtered);
  $("number").addEventListener("change", () => {
    const view = inView();
    const task = view[$("number").valueAsNumber - 1];
    if (task) goTo(task);
    else say(`There is no such task in this view; expected 1 to ${view.length}.`);
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("previous").addEventListener("click", () => goBy(-1));
  $("next").addEventListener("click", () => goBy(1));
  $("next-to-do").addEventListener("click", goToDo);
  for (const kind of ["csv", "json"]) $(`export-${kind}`).addEventListener("click", () => exportAs(kind));
  $("import-json").addEventListener("click", () => $("import-file").click());
  $("import-file").addEventListener("change", importChosen);
  window.addEventListener("hashchange", () => {
    if (location.hash !== session.routed) route();
  });
}
