// Who answers, which task is on the screen, and what happens at every change.

const session = {
  annotator: "",
  keeper: null,
  task: null, // of data.tasks
  routed: null, // the part of the address behind # that is on the screen
  opened: {}, // task -> the last step revealed
  waiting: {}, // task -> ms on the screen that are in no answer yet
  before: new Map(), // task -> the answer before it was skipped, to undo
  since: null, // performance.now() when the task came on the screen of a visible page
  notice: { exported: "" }, // when answers were last exported
};

function answers() {
  return session.keeper?.answers ?? new Map();
}

function answerHere() {
  return answers().get(session.task.id) ?? emptyAnswer(session.task.id, session.annotator);
}

function say(text) {
  $("said").textContent = text;
}

// counts the time since the last call for the task that was on the screen
function tick() {
  const now = performance.now();
  const { task, since, waiting } = session;
  if (task && since !== null) waiting[task.id] = (waiting[task.id] ?? 0) + now - since;
  session.since = document.visibilityState === "visible" && !$("view-tasks").hidden ? now : null;
}

function change(changes) {
  tick();
  const { id } = session.task;
  const base = session.keeper.latest(id) ?? emptyAnswer(id, session.annotator);
  const seconds = Math.floor((session.waiting[id] ?? 0) / 1000);
  session.waiting[id] = (session.waiting[id] ?? 0) - 1000 * seconds;
  const was = statusOf(base);
  const answer = { ...base, ...changes, saved: laterThan(base.saved) };
  answer.seconds = Math.min(base.seconds + seconds, data.limits.seconds);
  session.keeper.keep(answer);
  remember();
  refresh();
  if (was !== "done" && statusOf(answer) === "done") say(`Task ${placeOf(session.task)} is done. ${progressLine()}`);
}

function skip(skipped) {
  const here = answerHere();
  if (skipped) {
    session.before.set(here.task, here);
    change({ ...withoutAnswers(here), skipped: true });
    say("Skipped: nothing more is asked. Untick the box to undo.");
  } else {
    const { comment_1, comment_2 } = here; // newer than those before
    change({ ...session.before.get(here.task), skipped: false, comment_1, comment_2 });
    say("No longer skipped.");
  }
}

function reveal(step) {
  session.opened[session.task.id] = step;
  remember();
  refresh();
  $(`step-${step}-head`).focus();
  $(`step-${step}`).scrollIntoView({ block: "start" });
  say(step === 2 ? "The explanation is open." : "The final ratings are open.");
}

// the last step that is shown: revealed here, or answered in
function openStep(answer) {
  const answered = data.steps.findLastIndex((step) => step.some((name) => answer[name])) + 1;
  const wanted = Math.max(1, session.opened[answer.task] ?? 1, answered);
  return answer.skipped ? 1 : Math.min(wanted, stepsAnswered(answer) + 1);
}

// --- what the browser remembers beside answers: where one was, what was revealed, what was chosen to be shown

function remember() {
  const { task, opened, waiting } = session;
  const view = Object.fromEntries(["dataset", "language", "status"].map((name) => [name, $(name).value]));
  store(storageKey(session.annotator, "place"), { task: task?.id ?? null, opened, waiting, view });
}

function recall() {
  const place = stored(storageKey(session.annotator, "place")) ?? {};
  Object.assign(session, { opened: place.opened ?? {}, waiting: place.waiting ?? {}, before: new Map(), since: null });
  session.notice = stored(storageKey(session.annotator, "notice")) ?? { exported: "" };
  session.task = data.tasks.find((task) => task.id === place.task) ?? null;
  for (const name of ["dataset", "language", "status"]) {
    const options = [...$(name).options];
    $(name).selectedIndex = Math.max(0, options.findIndex((option) => option.value === place.view?.[name]));
  }
}

function exported() {
  session.notice = { exported: new Date().toISOString() };
  store(storageKey(session.annotator, "notice"), session.notice);
  refresh();
}

async function begin(annotator) {
  session.keeper?.close();
  session.annotator = annotator;
  session.keeper = data.served ? new ServerKeeper(data.served, heard) : new BrowserKeeper(annotator, heard);
  recall();
  await session.keeper.load();
  session.task ??= nextToDo(null) ?? data.tasks[0];
  drawTask();
}

// the keeper has an answer from elsewhere, or only its state changed
function heard(answer) {
  if (!session.task) return show($("trouble"), session.keeper.state().trouble);
  if (answer?.task === session.task.id) say("This task was answered elsewhere; what you see is the newest.");
  refresh();
  return offerConflict();
}

function importBackup(text) {
  const { problem, answers: found } = readBackup(text, session.annotator);
  if (problem) return say(`Nothing was imported. ${problem}`);
  const here = (answer) => session.keeper.latest(answer.task);
  const alike = found.filter((answer) => here(answer) && same(answer, here(answer)));
  const newer = found.filter((answer) => !(here(answer)?.saved >= answer.saved));
  newer.forEach((answer) => session.keeper.keep(answer));
  refresh();
  const older = found.length - newer.length - alike.length;
  return say(`Imported ${newer.length} of ${found.length} answers; ${alike.length} were here already, ${older} are older than what is here.`);
}
