// Unpacks the data and opens the page where its annotator left it.

function useColours() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = $("theme").value;
    document.documentElement.dataset.theme = chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
  };
  const chosen = stored("excam/theme");
  if (["auto", "light", "dark"].includes(chosen)) $("theme").value = chosen;
  $("theme").addEventListener("change", () => {
    store("excam/theme", $("theme").value);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}

async function enter(annotator) {
  await begin(annotator);
  $("who").textContent = annotator;
  $("leave").hidden = Boolean(data.served);
  $("controls-hint").textContent = data.served
    ? "Answers go to the study's server at every change. An export is a copy for you."
    : "Answers are kept in this browser at every change. Export before you change the browser or the machine, or clear its data.";
  if (!data.served) store(`excam/${data.campaign}`, annotator);
}

function listenToStart() {
  $("start-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const annotator = $("annotator").value.trim();
    const problem = frameProblem("annotator", annotator);
    $("annotator-problem").textContent = problem ? "An ID begins with a letter or digit; letters, digits, . _ - may follow, 40 signs at most." : "";
    if (problem) return $("annotator").focus();
    await enter(annotator);
    const known = answers().size > 0 || location.hash.startsWith("#task");
    if (known && !location.hash.startsWith("#task")) location.hash = "tasks";
    else route();
    return known ? undefined : $("instructions-head").focus();
  });
  $("leave").addEventListener("click", () => {
    tick();
    remember();
    session.keeper.close();
    Object.assign(session, { keeper: null, task: null });
    show($("trouble"), "");
    store(`excam/${data.campaign}`, null);
    location.hash = "tasks";
    route();
  });
}

function listenToWindow() {
  document.addEventListener("visibilitychange", () => {
    tick();
    if (session.keeper) remember();
  });
  window.addEventListener("pagehide", () => {
    tick();
    if (session.keeper) remember();
  });
  window.addEventListener("beforeunload", (event) => {
    if (session.keeper?.unsafe()) event.preventDefault();
  });
  $("skip").addEventListener("click", (event) => {
    event.preventDefault();
    $("main").focus();
  });
}

async function start() {
  useColours();
  data = { ...(await unpacked()), served: JSON.parse($("served").textContent) };
  data.every = data.tasks; // those of one annotator are chosen of them when one begins
  data.tasks.forEach((task, at) => (task.place = at + 1));
  makeFilters();
  makeForm();
  startClock();
  listenToControls();
  listenToKeys();
  listenToStart();
  listenToWindow();
  const annotator = data.served?.annotator ?? stored(`excam/${data.campaign}`);
  if (annotator && !frameProblem("annotator", annotator)) {
    await enter(annotator);
    if (session.keeper.gone) return show($("loading"), session.keeper.gone);
    if (!location.hash && answers().size) history.replaceState(null, "", "#tasks");
  }
  $("loading").hidden = true;
  return route();
}

start();
