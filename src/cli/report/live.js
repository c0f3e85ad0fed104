/* An unfinished run: its state, and a page that follows it. */

const STATES = {starting: "The run is before its first sample.", ended: "The run has ended; these are its results.",
                running: "The run is under way.", lost: "The run's server no longer answers; this is its last report."};

function liveSection(live) {
  const state = element("p", {class: "state", id: "state", "data-state": live.state}, element("i"), STATES[live.state] || live.state);
  document.getElementById("masthead").prepend(state);
  document.getElementById("origin").textContent = "It asks tyto run on this computer for updates, and needs no other network access.";
  if (live.state !== "running") return;
  const waiting = live.ctas - live.begun_ctas, resident = live.begun_ctas - live.done_ctas;
  const parts = [{label: "done", of: ["done"], colour: "--issued"}, {label: "on an SM", of: ["resident"], colour: "--policy"}, {label: "waiting", of: ["waiting"], colour: "--none"}];
  const bar = stackBar({done: live.done_ctas, resident, waiting}, parts);
  bar.classList.add("broad");
  const sms = live.sms.map((sm, i) => ({...sm, sm: i}));
  section("live", "Now", `Launch ${count(live.launch)}, kernel ${live.kernel}, SM cycle ${count(live.cycle)}.`,
    element("h3", {}, `Thread blocks: ${count(live.done_ctas)} of ${count(live.ctas)} done, ${count(resident)} on an SM`), legend(parts), bar,
    element("div", {class: "grid"}, figure("Warp instructions of this launch, by SM.", null, (width) => smBars(sms, "warp_instructions", width), "Warp instructions by SM"),
      figure("Thread blocks on each SM at this moment.", null, (width) => smBars(sms, "ctas", width), "Thread blocks by SM")), ...standingParts(live));
}

function smBars(sms, key, width) {
  return Plot.plot({width, height: 150, marginLeft: 46, marginBottom: 32, x: {type: "band", label: "SM →", tickSize: 0, ticks: sms.length > 24 ? sms.filter((sm) => sm.sm % 8 === 0).map((sm) => sm.sm) : undefined},
    y: {label: null, grid: true, ticks: 4, nice: true, tickFormat: whole}, marks: [Plot.barY(sms, {x: "sm", y: key, fill: colour("--issued"), inset: 0.5, title: (sm) => `SM ${sm.sm}: ${count(sm[key])}`}), Plot.ruleY([0])]});
}

function standingParts(live) {
  const [kernel] = live.standing || [];
  if (!kernel || !kernel.standing.length) return [];
  const most = 200, all = d3.sum(kernel.standing, (stand) => stand.warps);
  return [element("h3", {}, `Where the ${count(all)} resident warps wait`), standingTable(kernel, most)];
}

/* ---- Following ---- */

/* The reader's changes to the page, which putBack applies to the next page. */
function readerOf() {
  const all = (what) => [...document.querySelectorAll(what)];
  return {top: scrollY, open: all("details").map((each) => each.open), chosen: all("select").map((each) => each.value), sought: all("input").map((each) => each.value),
    sorted: all("table").map((each) => [...each.querySelectorAll("th")].map((th) => th.getAttribute("aria-sort"))), rolled: all(".scroll").map((each) => [each.scrollLeft, each.scrollTop])};
}
function putBack(reader) {
  const each = (what, values, act) => document.querySelectorAll(what).forEach((found, i) => { if (values[i] !== undefined) act(found, values[i]); });
  const set = (event) => (found, value) => { if (found.value !== value) { found.value = value; found.dispatchEvent(new Event(event)); } };
  each("details", reader.open, (found, open) => { found.open = open; });
  each("select", reader.chosen, set("change"));
  each("input", reader.sought, set("input"));
  each("table", reader.sorted, (found, sorted) => found.querySelectorAll("th").forEach((th, i) => {
    for (let times = 0; sorted[i] && th.getAttribute("aria-sort") !== sorted[i] && times < 2; times++) th.querySelector("button").click();
  }));
  drawFigures();
  each(".scroll", reader.rolled, (found, [left, top]) => found.scrollTo(left, top));
  scrollTo(0, reader.top);
}

/* Asks once a second for the state of the run, until it has ended. */
function follow(held) {
  let failures = 0, isHeld = false;
  function show(data) {
    held.documents[0].data = data;
    const reader = readerOf();
    build(held);
    putBack(reader);
    const state = document.getElementById("state");
    if (data.live.state === "running" || data.live.state === "starting")
      state.append(element("button", {type: "button", id: "hold", on: {click: (event) => { isHeld = !isHeld; event.target.textContent = isHeld ? "Resume" : "Pause"; }}}, isHeld ? "Resume" : "Pause"));
  }
  async function look() {
    let data = null;
    try {
      const answer = await fetch("state.json", {cache: "no-store"});
      if (answer.ok) data = await answer.json();
    } catch { /* the server has ended or is ending */ }
    failures = data ? 0 : failures + 1;
    if (failures > 4) data = {...held.documents[0].data, live: {state: "lost"}};
    if (data && (!isHeld || data.live.state !== "running")) show(data);
    if (!data || data.live.state === "running" || data.live.state === "starting") setTimeout(look, 1000);
  }
  look();
}
