// Two versions of one task (served form): they are shown side by side, and one is chosen.

function fieldLabel(name) {
  const other = { seconds: "Seconds on the screen", saved: "Saved", submitted: "Submitted" };
  const question = questionOf(name);
  return other[name] ?? (question.kind === "flags" ? question.values[name] : question.label);
}

function conflictRow(name, task, mine, theirs) {
  const head = make("th", "", fieldLabel(name));
  head.scope = "row";
  const cells = [mine, theirs].map((answer) => {
    const cell = make("td", "", ...visible(valueShown(name, answer[name], task)));
    cell.dir = "auto";
    return cell;
  });
  return make("tr", !sameValue(mine[name], theirs[name]) && !["seconds", "saved"].includes(name) ? "differs" : "", head, ...cells);
}

function offerConflict() {
  const { keeper } = session;
  $("decide").hidden = !keeper.postponed?.size;
  const [task] = [...(keeper.conflicts?.keys() ?? [])].filter((id) => !keeper.postponed.has(id));
  if (!task || $("conflict").open) return;
  const [mine, theirs] = [keeper.answers.get(task), keeper.conflicts.get(task).answer];
  const differs = (name) => !sameValue(mine[name], theirs[name]);
  const asked = data.columns.filter((name) => !["task", "annotator", "saved", "seconds"].includes(name));
  const names = ["saved", ...asked.filter(differs), ...asked.filter((name) => !differs(name)), "seconds"];
  $("conflict-task").textContent = task;
  const about = data.tasks.find((one) => one.id === task);
  $("conflict-rows").replaceChildren(...names.map((name) => conflictRow(name, about, mine, theirs)));
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
