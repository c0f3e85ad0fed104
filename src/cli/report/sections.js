/* The sections, in the order of the page. A section is left out if the documents have no data for it. */

function cards(entries) {
  return element("div", {class: "cards"}, ...entries.map(([value, words]) => element("div", {class: "card"}, element("b", {}, value), element("span", {}, words))));
}

function masthead(runs, tables) {
  const at = document.getElementById("masthead");
  const first = runs[0], programs = [...new Set(runs.map((run) => base(run.program)))];
  const machines = [...new Set(runs.map((run) => run.machine || "no machine: functional"))];
  const experiments = [...new Set(tables.map((row) => row.experiment))];
  const named = (list, what) => (list.length > 4 ? `${list.length} ${what}` : list.join(", "));
  const title = runs.length ? `${named(programs, "programs")} on ${named(machines, "machines")}` : experiments.join(", ") || "Nothing to report";
  document.title = title + " – Tyto report";
  at.append(element("h1", {}, title));
  if (!runs.length) return;
  const timed = runs.filter((run) => run.scheduler), groups = rivals(timed);
  if (groups.length > 1) { at.append(winners(groups)); return; }
  if (timed.length > 1) at.append(element("p", {class: "answer"}, ...answer(timed)));
  else if (first.scheduler) at.append(element("p", {class: "answer"}, `Warp scheduler: ${first.scheduler}. Thread block scheduler: ${first.cta_scheduler}.`));
  const best = timed.length ? fastest(timed) : first, t = best.total;
  if (runs.length > 1) at.append(element("p", {class: "note"}, `Numbers of ${best.name}, the fastest of ${runs.length} runs:`));
  at.append(cards([[count(t.cycles), "SM cycles"], [fixed(t.ipc), "thread instructions per cycle (IPC)"], [percent(t.issued_share), "of scheduler cycles issued"],
    [percent(1 - t.l1d_miss_rate), "L1D lookups without a miss"], [percent(1 - t.l2_miss_rate), "L2 lookups without a miss"],
    [percent(t.dram_bandwidth_use), "of the DRAM bandwidth used"]].filter(([value]) => value !== "–")));
}

const gainOf = (runs) => ratio(runs[0].total.cycles, fastest(runs).total.cycles) || 0;

/* Runs of a sweep without a result, and why. */
function failureSection(documents) {
  const planned = documents.flatMap(({data}) => (data && Array.isArray(data.runs) ? data.runs.filter((run) => run.values && run.state) : []));
  const lacking = planned.filter((run) => run.state !== "done");
  if (!lacking.length) return;
  const failed = lacking.filter((run) => run.state === "failed").length, most = 200;
  const words = [failed ? `${count(failed)} failed` : "", lacking.length > failed ? `${count(lacking.length - failed)} missing` : ""].filter(Boolean).join(", ");
  section("failures", "Runs without a result", `${words} of ${count(planned.length)} runs; the other sections leave them out.` + (lacking.length > most ? ` The table has the first ${most}.` : ""),
    table([{title: "Run", value: (run) => Object.values(run.values).filter(Boolean).join(", ")}, {title: "State", value: (run) => run.state}, {title: "Why", value: (run) => run.reason || ""}], lacking.slice(0, most), {high: lacking.length > 20}));
}

/* The fastest run of each program and machine. */
function winners(groups) {
  return element("div", {}, element("p", {class: "answer"}, `${d3.sum(groups, ([, runs]) => runs.length)} runs of ${groups.length} programs. The fastest run of each program, as a speed-up over its first run:`),
    groups.length > 12 ? element("p", {class: "note"}, "Programs with the largest gains:") : null,
    cards([...groups].sort(([, a], [, b]) => (groups.length > 12 ? gainOf(b) - gainOf(a) : 0)).slice(0, 12).map(([name, runs]) => [`${fixed(ratio(runs[0].total.cycles, fastest(runs).total.cycles))} ×`, `${name}: ${fastest(runs).own}`])));
}

/* The best run, as a sentence. */
function answer(runs) {
  const first = runs[0], best = fastest(runs), gain = 1 - best.total.cycles / first.total.cycles;
  if (best === first) return [element("b", {}, first.name), " takes the fewest cycles."];
  return [element("b", {}, best.name), ` takes ${percent(gain)} fewer cycles than ${first.name}.`];
}

function runsSection(runs) {
  const timed = runs.filter((run) => run.scheduler);
  if (timed.length < 2) return;
  const groups = rivals(timed), firsts = new Map(groups.flatMap(([, mine]) => mine.map((run) => [run, mine[0].total.cycles])));
  const best = new Set(groups.filter(([, mine]) => mine.length > 1).map(([, mine]) => fastest(mine).total.cycles + mine[0].program));
  const number = (title, value, show, note) => ({title, kind: "n", note, value: (run) => value(run.total), show: (run) => show(value(run.total))});
  section("runs", "Runs side by side", groups.length > 1 ? "Fewer cycles are better. Speed-ups are relative to the first run of the same program. The fastest run of each is bold." : "Fewer cycles are better. Speed-ups are relative to the first run. The fastest run is bold.",
    table([{title: "Run", value: (run) => run.name}, number("Cycles", (t) => t.cycles, count), number("IPC", (t) => t.ipc, fixed, "thread instructions per cycle"),
           {title: "Speed-up", kind: "n", value: (run) => ratio(firsts.get(run), run.total.cycles), show: (run) => fixed(ratio(firsts.get(run), run.total.cycles), 3)}, number("L1D miss", (t) => t.l1d_miss_rate, percent),
           number("L2 miss", (t) => t.l2_miss_rate, percent), number("Row hits", (t) => t.RBL, percent, "DRAM requests that found their row open"),
           number("Busy banks", (t) => t.BLP, fixed, "mean DRAM banks busy at once"), number("Load latency", (t) => t.load_latency, fixed, "mean SM cycles from a miss to its data")],
          timed, {mark: (run) => best.has(run.total.cycles + run.program), high: timed.length > 40}));
}

/* A sweep with a baseline: the speed-ups over it for the columns of its table, and their means. */
function leagueSection(documents) {
  for (const {data} of documents) {
    if (!data || typeof data.baseline !== "string" || !Array.isArray(data.dimensions)) continue;
    const varying = data.dimensions.filter((each) => each.values.length > 1), across = varying.filter((each, i) => i || each.name !== "program").at(-1);
    if (!across) continue;
    const done = data.runs.filter((run) => run.result), labelOf = (run) => varying.filter((each) => each !== across).map((each) => run.values[each.name]).join(", ") || base(run.values.program ?? "");
    const rows = [...d3.group(done, labelOf)].map(([name, mine]) => ({name, cycles: new Map(mine.map((run) => [run.values[across.name], run.result.total.cycles]))}));
    const gain = (row, value) => ratio(row.cycles.get(data.baseline) ?? NaN, row.cycles.get(value) ?? NaN), columns = across.values;
    const whole = rows.filter((row) => columns.every((value) => isNumber(gain(row, value))));
    if (!whole.length) continue;
    const mean = (value) => Math.exp(d3.mean(whole, (row) => Math.log(gain(row, value)))), bars = columns.map((value) => ({value, mean: mean(value)}));
    section("league", `Speed-up over ${data.baseline}`, `The cycles of ${data.baseline} divided by those of each ${across.name}. Means are geometric, over the ${count(whole.length)} of ${count(rows.length)} rows without a missing run.`,
      figure(`Geometric mean of the speed-up, by ${across.name}.`, null, (width) => Plot.plot({width, height: 46 + 30 * bars.length, marginLeft: Math.min(width / 3, 14 + 7 * d3.max(columns, (value) => value.length)), marginRight: 60, marginBottom: 36, x: {zero: true, grid: true, label: "speed-up →", nice: true}, y: {label: null, domain: columns},
        marks: [Plot.barX(bars, {x: "mean", y: "value", fill: colour("--issued"), inset: 0.5}), Plot.text(bars, {x: "mean", y: "value", text: (bar) => fixed(bar.mean, 3), dx: 6, textAnchor: "start", fill: "currentColor"}), Plot.ruleX([1], {strokeOpacity: 0.6})]}), "Geometric means of speed-ups"),
      table([{title: varying.filter((each) => each !== across).map((each) => each.name).join(", ") || "program", value: (row) => row.name}, ...columns.map((value) => ({title: value || "machine's own", kind: "n", value: (row) => gain(row, value), show: (row) => fixed(gain(row, value), 3)}))], rows, {high: rows.length > 20}));
  }
}

/* A sweep: its metric along its axis, with a figure for each program. */
function sweepSection(documents) {
  for (const {data} of documents) {
    const points = pointsOf(data), lines = [...new Set(points.map((point) => point.line))], along = [...new Set(points.map((point) => point.x))];
    if (along.length < 2) continue;
    const isJoined = along.every(isQuantity);
    const toneOf = (line) => colour(TONES[lines.indexOf(line) % TONES.length]), metric = data.metrics[0];
    const draw = (mine, width) => Plot.plot({width, height: 300, marginTop: 24, marginLeft: 52, marginRight: 16, marginBottom: 40, x: {type: "point", domain: along, label: data.x + " →", tickFormat: (x) => cutTo(String(x), 14)},
      y: {zero: true, grid: true, nice: true, label: "↑ " + metric, ticks: 6}, symbol: {domain: lines, range: lines.map((_, i) => MARKS[i % MARKS.length])},
      marks: [Plot.ruleY([0]), Plot.lineY(isJoined ? mine : [], {x: "x", y: "y", z: "line", stroke: (point) => toneOf(point.line), strokeWidth: 1.75}),
        Plot.dot(mine, {x: "x", y: "y", r: 4, symbol: "line", fill: (point) => toneOf(point.line), stroke: colour("--ground"), strokeWidth: 0.75, title: (point) => `${point.line}, ${data.x} ${point.x}: ${fixed(point.y, 3)}`})]});
    const most = 12, byProgram = [...d3.group(points, (point) => point.program)];
    const plotOf = ([program, mine]) => figure(program || metric, null, (width) => draw(mine, width), `${program} ${metric} by ${data.x}`);
    const room = element("div"), show = (which) => { room.replaceChildren(plotOf(byProgram[which])); drawFigures(); };
    const plots = byProgram.length > most ? [element("div", {}, element("div", {class: "controls"}, choose("Program", byProgram.map(([program]) => program), show)), room)] : byProgram.map(plotOf);
    if (byProgram.length > most) show(0);
    section("sweep", `${metric} by ${data.x}`, lines.length > 1 && isJoined ? "Each mark is a run. A line joins runs that differ only along the axis." : "Each mark is a run.",
      lines.length > 1 ? legend(lines.map((line, i) => ({label: line, colour: TONES[i % TONES.length]}))) : null, plots.length > 1 ? element("div", {class: "grid"}, ...plots) : plots[0]);
  }
}

/* Most runs with bars: more would fill a page. */
const MOST_BARS = 40;
const firstOf = (all) => (all.length > MOST_BARS ? ` The bars show the first ${MOST_BARS} of ${count(all.length)} runs.` : "");

function stallSection(runs) {
  const all = runs.filter((run) => run.scheduler), timed = all.slice(0, MOST_BARS);
  if (!timed.length) return;
  const rows = timed.flatMap((run) => CAUSES.map((cause) => ({name: run.name, label: cause.label, colour: cause.colour,
    share: ratio(causeCycles(run.total, cause), run.total.scheduler_cycles)})));
  const shown = CAUSES.filter((cause) => rows.some((row) => row.label === cause.label && row.share > 0));
  section("cycles", "Where the cycles went", "In each cycle, a warp scheduler either issues an instruction or has one reason not to." + firstOf(all),
    figure("Share of all scheduler cycles.", shown, (width) => shareBars(rows, width), "Stacked bars of what schedulers did in each run"), pipelineFigure(timed));
}

/* The pipelines that executed the instructions. */
function pipelineFigure(timed) {
  const rows = timed.flatMap((run) => PIPELINES.map((pipeline) => ({name: run.name, label: pipeline.label, colour: pipeline.colour, share: ratio(sum(run.total, pipeline.of), sum(run.total, PIPELINES.flatMap((each) => each.of)))})));
  const shown = PIPELINES.filter((pipeline) => rows.some((row) => row.label === pipeline.label && row.share > 0));
  return shown.length ? figure("Warp instructions by pipeline, as a share of those that use one.", shown, (width) => shareBars(rows, width), "Stacked bars of instructions by pipeline") : null;
}

/* A run over time: where its scheduler cycles went, then other important shares. */
function timeSection(runs) {
  const sampled = runs.filter((run) => run.samples && run.samples.end_cycle.length > 1);
  if (!sampled.length) return;
  const room = element("div");
  const lines = [["Thread instructions per cycle", ["thread_instructions"], ["cycles"], 1], ["L1D misses, % of lookups", ["l1d_misses"], ["l1d_accesses"], 100],
    ["L2 misses, % of lookups", ["l2_misses"], ["l2_accesses"], 100], ["DRAM row hits, % of requests", ["dram_row_hits"], ["dram_reads", "dram_writes"], 100],
    ["Busy DRAM banks of a channel", ["dram_bank_ticks"], ["dram_busy_ticks"], 1], ["DRAM data bus in use, %", ["dram_bus_ticks"], ["dram_ticks"], 100]];
  function show(which) {
    const run = sampled[which], samples = run.samples, ends = samples.end_cycle;
    const at = (keys, i) => keys.reduce((all, key) => all + ((samples[key] || [])[i] || 0), 0);
    const spans = ends.map((end, i) => ({x1: i ? ends[i - 1] : 0, x2: end, i})).filter((span) => span.x2 > span.x1);
    const stacked = spans.flatMap((span) => CAUSES.map((cause) => ({...span, label: cause.label, colour: cause.colour,
      share: ratio(at(cause.of, span.i) - (cause.without ? at([cause.without], span.i) : 0), at(["scheduler_cycles"], span.i))}))).filter((row) => row.share > 0);
    const shown = CAUSES.filter((cause) => stacked.some((row) => row.label === cause.label));
    const small = lines.filter(([, above]) => spans.some((span) => at(above, span.i) > 0)).map(([title, above, below, scale]) => figure(title, null, (width) => Plot.plot({width, height: 150, marginTop: 10, marginLeft: 46, marginBottom: 32,
      x: {label: "SM cycle →", tickFormat: short, ticks: 4, domain: [0, ends[ends.length - 1]]}, y: {label: null, grid: true, ticks: 4, zero: true, nice: true},
      marks: [Plot.ruleY([0]), Plot.areaY(spans, {x: "x2", y: (span) => scale * ratio(at(above, span.i), at(below, span.i)), fill: colour("--issued"), fillOpacity: 0.15, curve: "step-before"}),
              Plot.lineY(spans, {x: "x2", y: (span) => scale * ratio(at(above, span.i), at(below, span.i)), stroke: colour("--issued"), strokeWidth: 1.5, curve: "step-before"})]}), title + " over time"));
    room.replaceChildren(figure(`Share of the scheduler cycles of each interval of about ${count(samples.interval)} SM cycles, ${run.name}.`, shown, (width) => Plot.plot({width, height: 260, marginLeft: 46, marginBottom: 36,
      x: {label: "SM cycle →", tickFormat: short}, y: {label: "↑ share, %", percent: true, grid: true},
      marks: [Plot.rectY(stacked, Plot.stackY({x1: "x1", x2: "x2", y: "share", fill: (row) => colour(row.colour), order: null, inset: 0,
        title: (row) => `cycles ${count(row.x1)} to ${count(row.x2)}: ${row.label} ${percent(row.share)}`}))]}), "Stacked areas of what schedulers did, by time"), element("div", {class: "grid"}, ...small));
    drawFigures();
  }
  const controls = sampled.length > 1 ? element("div", {class: "controls"}, choose("Run", sampled.map((run) => run.name), show)) : null;
  section("time", "Over time", "The same over the course of the run. The figures below show why it changed.", controls, room);
  show(0);
}

/* The longest launch of each kernel of a run, the longest kernels first. */
const longestLaunches = (run) => [...d3.group(run.kernels.map((kernel, i) => ({...kernel, number: i + 1})).filter((kernel) => kernel.timed), (kernel) => kernel.kernel).values()]
  .map((same) => same.reduce((a, b) => (b.cycles > a.cycles ? b : a))).sort((a, b) => b.cycles - a.cycles);
const LEVELS = [["issue", "Issue"], ["shared", "Shared memory"], ["l1d", "L1D"], ["l2", "L2"], ["dram", "DRAM"]];

/* What limits the longest launch of each kernel: advice, occupancy, and the share of its peak that each level reached. */
function limitSection(runs) {
  const most = 12, all = runs.filter((run) => run.scheduler).flatMap((run) => longestLaunches(run).map((kernel) => ({run, kernel}))).filter(({kernel}) => kernel.of_peak);
  const rows = [...all].sort((a, b) => b.kernel.cycles - a.kernel.cycles).slice(0, most);
  if (!rows.length) return;
  const name = ({run, kernel}) => [kernel.kernel, run.kernels.length > 1 ? `launch ${kernel.number}` : "", runs.length > 1 ? run.name : ""].filter(Boolean).join(", ");
  const n = (title, value, note) => ({title, kind: "n", note, value, show: (row) => percent(value(row))});
  section("limits", "What limits each kernel", "The longest launch of each kernel. Rules examine the counters (docs/advice.md), and the most important results are shown. Shares of a peak are over all cycles of the launch." + (all.length > rows.length ? ` These are the ${rows.length} longest of ${count(all.length)}.` : ""),
    ...rows.filter(({kernel}) => kernel.advice && kernel.advice.length).map((row) => element("div", {class: "advice"}, element("h3", {}, name(row)),
      element("ul", {}, ...row.kernel.advice.map((told) => element("li", {}, element("b", {}, told.rule), `: ${told.text}.`))))),
    table([{title: "Kernel", value: ({kernel}) => kernel.kernel, class: "code"}, {title: "Run", value: ({run}) => run.name}, {title: "Cycles", kind: "n", value: ({kernel}) => kernel.cycles, show: ({kernel}) => count(kernel.cycles)},
      n("Occupancy", ({kernel}) => kernel.occupancy?.theoretical, "share of an SM's warps that fit"), {title: "Limited by", value: ({kernel}) => (kernel.occupancy?.limited_by || []).join(", ")},
      n("Achieved", ({kernel}) => kernel.occupancy?.achieved, "mean share of the warps while an SM had any"), {title: "Accesses", kind: "n", note: "of a global or local instruction", value: ({kernel}) => kernel.accesses_per_request, show: ({kernel}) => fixed(kernel.accesses_per_request, 1)},
      n("Needed", ({kernel}) => kernel.needed_access_share, "accesses that the data would need if contiguous, as a share of those made; 100% is fully coalesced"),
      ...LEVELS.map(([key, title]) => n(title, ({kernel}) => kernel.of_peak[key], "of its peak"))], rows));
}

/* A kernel without DRAM traffic has no place on the roofline: only issue bounds it, and the table below lists it. */
function rooflineSection(runs, machines) {
  const points = [], roofs = new Map(), unknown = new Set();
  for (const run of runs.filter((each) => each.scheduler)) {
    const byName = d3.rollup(run.kernels.filter((kernel) => kernel.timed), (same) => {
      const added = {};
      for (const key of ["thread_instructions", "cycles", "dram_bus_ticks", "dram_ticks", "scheduler_cycles"]) added[key] = d3.sum(same, (kernel) => kernel[key]);
      return added;
    }, (kernel) => kernel.kernel);
    for (const [kernel, counters] of byName) {
      const limits = limitsOf(counters, machines[run.machine], run.peaks), point = pointOf(counters, limits);
      if (!isNumber(limits.bandwidth)) unknown.add(run.machine);
      if (!isNumber(limits.bandwidth) || !(counters.cycles > 0)) continue;
      const roof = [run.machine, limits.issue, limits.bandwidth].join();
      if (!roofs.has(roof)) roofs.set(roof, {...limits, machine: run.machine});
      points.push({...point, kernel, run: run.name, roof, bound: isNumber(point.intensity) ? Math.min(limits.issue, point.intensity * limits.bandwidth) : limits.issue});
    }
  }
  if (!points.length && !unknown.size) return;
  const isDrawn = (point) => isNumber(point.intensity) && point.speed > 0, left = points.filter((point) => !isDrawn(point));
  const parts = [...roofs].filter(([roof]) => points.some((point) => point.roof === roof && isDrawn(point))).map(([roof_, limits]) => {
    const mine = points.filter((point) => point.roof === roof_ && isDrawn(point)), ridge = limits.issue / limits.bandwidth;
    const low = Math.min(ridge, d3.min(mine, (point) => point.intensity)) / 4, high = Math.max(ridge, d3.max(mine, (point) => point.intensity)) * 4;
    const roof = [[low, low * limits.bandwidth], [ridge, limits.issue], [high, limits.issue]];
    const floor = d3.min(mine, (point) => point.speed) / 3;
    return figure(`Machine ${limits.machine}: at most ${count(limits.issue)} thread instructions and ${fixed(limits.bandwidth, 1)} bytes from DRAM per cycle.`, null, (width) =>
      Plot.plot({width, height: Math.min(380, 0.6 * width + 60), marginLeft: 56, marginBottom: 42, marginRight: 40, x: {type: "log", domain: [low, high], label: "Thread instructions per byte of DRAM →", grid: true, ticks: logTicks(low, high), tickFormat: short},
        y: {type: "log", domain: [Math.min(floor, low * limits.bandwidth), limits.issue * 2], label: "↑ Thread instructions per cycle", grid: true, ticks: logTicks(Math.min(floor, low * limits.bandwidth), limits.issue * 2), tickFormat: short}, clip: true,
        marks: [Plot.line(roof, {stroke: "currentColor", strokeWidth: 1.5, clip: true}), Plot.text([[ridge, limits.issue]], {text: [`ridge at ${fixed(ridge, 1)}`], dy: -10, fill: "currentColor"}),
          Plot.dot(mine, {x: "intensity", y: "speed", r: 5, fill: colour("--memory"), stroke: colour("--ground"), title: (point) => `${point.kernel}, ${point.run}: ${fixed(point.speed)} per cycle, ${percent(point.speed / point.bound)} of its roof`}),
          Plot.text(mine.length > 12 ? [] : mine, {x: "intensity", y: "speed", text: (point) => cutTo(runs.length > 1 ? point.run : point.kernel, 28), dx: 9, textAnchor: "start", fill: "currentColor"})]}), "Roofline of " + limits.machine);
  });
  const note = (words) => element("p", {class: "note"}, words);
  section("roofline", "Roofline", "Each dot is a kernel. The line is the limit of the machine: DRAM bandwidth on the slope, the issue rate on the flat part. A dot far below the line means that the kernel waits for something else.",
    ...parts, left.length ? note(`${left.length} of ${points.length} kernels have no DRAM traffic and are only in the table: ${left.slice(0, 6).map((point) => point.kernel).join(", ")}${left.length > 6 ? ", …" : ""}.`) : null,
    unknown.size ? note(`The limits of ${[...unknown].join(", ")} are unknown: an older version wrote the result, and Tyto has no machine of that name.`) : null,
    points.length ? table([{title: "Kernel", value: (p) => p.kernel, class: "code"}, {title: "Run", value: (p) => p.run}, {title: "Instructions/byte", kind: "n", value: (p) => p.intensity, show: (p) => fixed(p.intensity)},
      {title: "Instructions/cycle", kind: "n", value: (p) => p.speed, show: (p) => fixed(p.speed)}, {title: "Of its roof", kind: "n", value: (p) => p.speed / p.bound, show: (p) => percent(p.speed / p.bound)},
      {title: "Bound by", value: (p) => (p.bound < roofs.get(p.roof).issue ? "DRAM bandwidth" : "issue")}], points, {high: points.length > 20}) : null);
}

function kernelSection(runs) {
  const kernels = runs.flatMap((run) => run.kernels.map((kernel, i) => ({...kernel, run: run.name, number: i + 1})));
  if (kernels.length < 2 || !kernels.some((kernel) => kernel.timed)) return;
  const most = 200, n = (title, key, show) => ({title, kind: "n", value: (k) => k[key], show: (k) => show(k[key])});
  section("kernels", "Kernels", kernels.length > most ? `The first ${most} of ${count(kernels.length)} launches, in the selected order.` : "Every launch, in order.",
    table([{title: "Run", value: (k) => k.run}, {title: "Launch", kind: "n", value: (k) => k.number}, {title: "Kernel", value: (k) => k.kernel, class: "code"},
      {title: "Grid", value: (k) => k.grid.join(" × ")}, {title: "Block", value: (k) => k.block.join(" × ")}, {title: "Ended", value: (k) => k.status},
      n("Cycles", "cycles", count), n("IPC", "ipc", fixed), n("Lanes", "lanes_active", percent), n("L1D miss", "l1d_miss_rate", percent), n("L2 miss", "l2_miss_rate", percent)], kernels, {most, high: kernels.length > 20}));
}

const placeOf = (row, module) => (row.source ? `${base(row.source)}:${row.source_line || "–"}` : `${base(module)}:${row.line}`);

/* The instructions at which warps waited at one moment. */
function standingTable(kernel, most) {
  const stands = kernel.standing.map((stand) => ({...stand, line: kernel.instructions.find((line) => line.pc === stand.pc) || {text: "?", line: 0}}));
  const doing = (stand) => STANDING.find((part) => part.of.includes(stand.cause)) || {label: stand.cause, colour: "--other"};
  return table([{title: "Warps", kind: "n", value: (s) => s.warps}, {title: "State", value: (s) => doing(s).label, show: (s) => element("span", {}, element("i", {class: "swatch", style: `background:${colour(doing(s).colour)}`}), doing(s).label)},
    {title: "Before", value: (s) => placeOf(s.line, kernel.module), class: "code"}, {title: "PTX", value: (s) => s.line.text, class: "code"}], stands, {sort: 0, most, high: stands.length > 18});
}

/* Names the files whose text is in the page, because a copy of the page contains it too. */
function contentsOf(profiled) {
  const files = [...new Set(profiled.flatMap(({kernel}) => kernel.sources.filter((row) => row.text !== null).map((row) => row.source)))];
  const modules = [...new Set(profiled.map(({kernel}) => kernel.module))];
  return element("p", {class: "note", id: "files"}, `This page contains lines of ${files.length ? files.sort().join(", ") : "no source file"}; instructions of ${modules.sort().join(", ")}.`);
}

/* Cycles that warps waited, by source line or by instruction. */
function sourceSection(runs) {
  const profiled = runs.flatMap((run) => (run.profile || []).map((kernel) => ({run, kernel, name: runs.length > 1 ? `${kernel.kernel}, ${run.name}` : kernel.kernel})));
  if (!profiled.length) return;
  const room = element("div");
  let which = 0, byInstruction = !profiled[0].kernel.sources.length;
  function show() {
    const {kernel} = profiled[which];
    const rows = byInstruction ? kernel.instructions : kernel.sources;
    const cycles = (row) => d3.sum(STANDING, (part) => sum(row, part.of));
    const all = d3.sum(kernel.instructions, cycles), most = d3.max(rows, cycles) || 1;
    const heat = (cell, row) => { cell.style.background = `rgba(var(--heat), ${0.75 * Math.sqrt(cycles(row) / most)})`; };
    const n = (title, value, showAs, note) => ({title, kind: "n", note, value, show: (row) => showAs(value(row))});
    const lookups = (row, cache) => sum(row, CACHE.map((outcome) => `${cache}_${outcome.part}`));
    const place = (row) => placeOf(row, kernel.module);
    const order = byInstruction ? [{title: "#", kind: "n", value: (row) => row.pc}] : [];
    const columns = [...order, {title: "Line", value: (row) => `${row.source || ""}:${row.source_line ?? row.line}`, show: place, class: "code"}, {...n("Time", (row) => ratio(cycles(row), all), percent, "share of all cycles of all warps"), class: "heat", style: heat},
      {title: "State", value: (row) => cycles(row), show: (row) => stackBar(row, STANDING)}, {title: byInstruction ? "PTX" : "Source", value: (row) => row.text || "", class: "code text"},
      n("Issues", (row) => row.issues || 0, count), n("Lanes", (row) => ratio(row.lanes || 0, row.issues || 0), (v) => fixed(v, 1), "mean lanes of 32"),
      n("Latency", (row) => ratio(row.latency_cycles || 0, row.completed || 0), (v) => fixed(v, 0), "mean SM cycles from issue to result"),
      n("L1D hit", (row) => ratio(row.l1d_hits || 0, lookups(row, "l1d")), percent), n("L2 hit", (row) => ratio(row.l2_hits || 0, lookups(row, "l2")), percent),
      n("Accesses", (row) => ratio(row.accesses || 0, row.requests || 0), (v) => fixed(v, 1), "per global or local instruction with accesses"),
      n("Needed", (row) => ratio(row.least_accesses || 0, row.accesses || 0), percent, "accesses that the data would need if contiguous, as a share of those made; 100% is fully coalesced"),
      n("Bank conflicts", (row) => (row.shared_instructions ? ((row.shared_cycles || 0) - (row.least_shared_cycles || 0)) / row.shared_instructions : NaN), (v) => fixed(v, 1), "cycles that conflicts add, per shared memory instruction")];
    room.replaceChildren(...((kernel.standing || []).length ? [element("h3", {}, "Where warps waited when the launch ended early"), standingTable(kernel)] : []),
      element("h3", {}, kernel.kernel), table(columns.filter((column) => column.kind !== "n" || rows.some((row) => isNumber(column.value(row)))), rows, {high: rows.length > 18, dense: true}));
  }
  section("source", "Source", "How long warps waited at each line, and why. A warp waits for a value at the line that uses it, not at the load.",
    contentsOf(profiled), element("div", {class: "controls"}, profiled.length > 1 ? choose("Kernel", profiled.map((each) => each.name), (i) => { which = i; show(); }) : null,
      choose("Lines of", profiled.some((each) => each.kernel.sources.length) ? ["the source", "the PTX"] : ["the PTX"], (i) => { byInstruction = i === 1 || !profiled[which].kernel.sources.length; show(); })), legend(STANDING), room);
  show();
}

/* Where and when thread blocks ran. */
function blockSection(runs) {
  const placed = runs.flatMap((run) => run.kernels.filter((kernel) => kernel.ctas && kernel.ctas.length).map((kernel) => ({run, kernel})));
  if (!placed.length) return;
  const room = element("div"), most = 20000;
  function show(which) {
    const {run, kernel} = placed[which], blocks = kernel.ctas.slice(0, most);
    const slots = 1 + d3.max(blocks, (block) => block.slot), sms = 1 + d3.max(blocks, (block) => block.sm);
    room.replaceChildren(figure(`${kernel.kernel}, ${run.name}: ${count(kernel.ctas.length)} thread blocks on ${sms} SMs, at most ${slots} at once on an SM. A bar is a block from its launch to the end of its last warp; darker blocks come later in the grid.`, null, (width) =>
      Plot.plot({width, height: 60 + sms * (sms > 32 ? 8 : Math.max(14, Math.min(6 * slots, 30))), marginLeft: 52, marginBottom: 36, x: {label: "SM cycle of the kernel →", tickFormat: short, grid: true},
        y: {label: null, domain: [sms, 0], ticks: d3.range(0, sms, sms > 32 ? 4 : 1).map((sm) => sm + 0.5), tickFormat: (v) => `SM ${Math.floor(v)}`, tickSize: 0}, color: {type: "linear", domain: [-0.35 * kernel.ctas.length, kernel.ctas.length], range: [getComputedStyle(document.body).getPropertyValue("--policy"), getComputedStyle(document.body).getPropertyValue("--issued")]},
        marks: [Plot.rect(blocks, {x1: "start", x2: "end", y1: (block) => block.sm + 0.04 + 0.92 * block.slot / slots, y2: (block) => block.sm + 0.04 + 0.92 * (block.slot + 1) / slots, fill: "cta", inset: 0.4,
          title: (block) => `block ${count(block.cta)} on SM ${block.sm}, slot ${block.slot}: cycles ${count(block.start)} to ${count(block.end)}`})]}), "Timeline of thread blocks by SM"));
    drawFigures();
  }
  const controls = placed.length > 1 ? element("div", {class: "controls"}, choose("Launch", placed.map(({run, kernel}, i) => `${i + 1}: ${kernel.kernel}, ${run.name}`), show)) : null;
  section("blocks", "Thread blocks", "When each thread block ran, and on which SM. Gaps at the end are SMs without work.", controls, room);
  show(0);
}

function memorySection(runs) {
  const all = runs.filter((run) => run.scheduler && run.total.l1d_accesses + run.total.l2_accesses > 0), timed = all.slice(0, MOST_BARS);
  if (!timed.length) return;
  const outcomes = (keys, all) => timed.flatMap((run) => keys.map((entry) => ({name: run.name, label: entry.label, colour: entry.colour, share: ratio(run.total[entry.key] || 0, all(run.total)) || 0})));
  const cache = (name, words) => figure(words, CACHE, (width) => shareBars(outcomes(CACHE.map((outcome) => ({...outcome, key: `${name}_${outcome.part}`})), (t) => t[`${name}_accesses`]), width), words);
  section("memory", "Memory", "The results of cache lookups, and the parts of the load latency." + firstOf(all),
    element("div", {class: "grid pairs"}, cache("l1d", "L1 data cache, share of lookups."), cache("l2", "L2 cache, share of lookups."),
      !timed.some((run) => run.total.dram_reads + run.total.dram_writes > 0) ? element("p", {class: "note"}, "There was no DRAM traffic: L2 held all data.") : figure("DRAM, share of requests by the state of their bank.", ROWS, (width) => shareBars(outcomes(ROWS.map((row) => ({...row, key: row.part})), (t) => t.dram_reads + t.dram_writes), width), "DRAM row outcomes"),
      figure("Mean load latency, from an SM's miss to its data.", FETCH, (width) => shareBars(timed.flatMap((run) => FETCH.map((part) => ({name: run.name, label: part.label, colour: part.colour, share: run.total[part.part] || 0}))), width, {unit: "SM cycles →"}), "Parts of the load latency")),
    table([{title: "Run", value: (run) => run.name}, ...[["Bandwidth used", "dram_bandwidth_use", percent, "of all DRAM channels' data buses"], ["Busy banks", "BLP", fixed, "mean number of busy banks of a channel, while any is busy"], ["Row hits", "RBL", percent, "requests that found their row open"],
      ["Queue", "dram_queue_mean", fixed, "mean requests waiting at a channel"], ["L1D MPKI", "l1d_MPKI", fixed, "misses per thousand thread instructions"], ["L2 MPKI", "l2_MPKI", fixed, "likewise"]].map(([title, key, show, note]) => ({title, note, kind: "n", value: (run) => run.total[key], show: (run) => show(run.total[key])}))], all, {high: all.length > 20}));
}

/* Experiments: the paper's number next to ours. */
const VERDICTS = {agrees: ["agree", "good"], direction: ["right in direction", "fair"], differs: ["differ", "bad"]};
function experimentSection(rows) {
  const number = (text) => (text === "" || text === undefined || text === null ? NaN : Number(text));
  const name = (row) => `${row.row}: ${row.column}`;
  for (const [id, mine] of d3.group(rows, (row) => row.experiment)) {
    const judged = mine.filter((row) => row.verdict || isNumber(number(row.published))), both = judged.filter((row) => isNumber(number(row.ours)) && isNumber(number(row.published)));
    const tally = d3.rollups(judged.filter((row) => row.verdict), (same) => same.length, (row) => row.verdict).map(([verdict, times]) => `${times} ${(VERDICTS[verdict] || [verdict])[0]}`).join(", ");
    const columns = [{title: "Row", value: (row) => row.row}, {title: "Column", value: (row) => row.column}, {title: "Ours", kind: "n", value: (row) => number(row.ours), show: (row) => fixed(number(row.ours), 3)},
      {title: "The paper's", kind: "n", value: (row) => number(row.published), show: (row) => fixed(number(row.published), 3)}, {title: "Verdict", value: (row) => row.verdict, style: (cell, row) => { cell.className = (VERDICTS[row.verdict] || ["", ""])[1]; }}, {title: "Place", value: (row) => row.place}];
    const left = (width) => Math.min(width / 2.5, 20 + 7 * d3.max(both, (row) => name(row).length));
    section("experiment-" + id.replace(/[^a-z0-9]+/gi, "-"), id, `The paper's numbers next to ours${mine[0].size ? `, at size ${mine[0].size}` : ""}. ${tally ? `Claims: ${tally}.` : ""}`,
      both.length ? figure("A line joins the paper's number and ours.", [{label: "the paper", colour: "--other", mark: "ring"}, {label: "ours", colour: "--memory", mark: "dot"}], (width) => Plot.plot({width, height: 60 + 22 * both.length, marginTop: 8, marginLeft: left(width), marginRight: 20, marginBottom: 36,
        x: {grid: true, label: "value →", nice: true}, y: {label: null, tickSize: 0, domain: both.map(name), tickFormat: (text) => cutTo(text, Math.floor((left(width) - 14) / 6.6))},
        marks: [Plot.link(both, {x1: (row) => number(row.published), x2: (row) => number(row.ours), y: name, stroke: colour("--line"), strokeWidth: 3}), Plot.dot(both, {x: (row) => number(row.published), y: name, r: 6, stroke: colour("--other"), strokeWidth: 2}),
          Plot.dot(both, {x: (row) => number(row.ours), y: name, r: 3.5, fill: colour("--memory"), title: (row) => `${name(row)}: ours ${row.ours}, the paper's ${row.published}, ${row.verdict || "not judged"}`})]}), "The paper's numbers next to ours") : null,
      judged.length ? table(columns, judged, {high: judged.length > 30}) : null,
      judged.length < mine.length ? element("details", {class: "all"}, element("summary", {}, `All ${mine.length} numbers, including those without a published value`), table(columns, mine, {high: mine.length > 20})) : null);
  }
}

/* How evenly the SMs, channels and banks were used. */
function unitSection(runs) {
  const split = runs.filter((run) => run.units && run.units.sms && run.units.sms.length);
  if (!split.length) return;
  const room = element("div");
  let which = 0, shown = 0;
  function show() {
    const {units, name} = split[which], what = UNITS[shown];
    const stacked = units.sms.flatMap((sm) => CAUSES.map((cause) => ({sm: sm.sm, label: cause.label, colour: cause.colour, share: ratio(causeCycles(sm, cause), sm.scheduler_cycles)})).filter((row) => row.share > 0));
    const causes = CAUSES.filter((cause) => stacked.some((row) => row.label === cause.label));
    const every = (count_) => (count_ > 24 ? d3.range(0, count_, 8) : undefined);
    const bySm = (title, key, show_, scale = 1) => figure(title, null, (width) => Plot.plot({width, height: 150, marginTop: 10, marginLeft: 46, marginBottom: 32, x: {type: "band", label: "SM →", tickSize: 0, ticks: every(units.sms.length)}, y: {label: null, grid: true, ticks: 4, nice: true, tickFormat: whole},
      marks: [Plot.barY(units.sms, {x: "sm", y: (sm) => scale * (sm[key] || 0), fill: colour("--issued"), inset: 0.5, title: (sm) => `SM ${sm.sm}: ${show_(sm[key])}`}), Plot.ruleY([0])]}), title);
    const banks = (units.banks || []).map((bank) => ({...bank, value: what.value(bank)})), most = d3.max(banks, (bank) => bank.value) || 0, channels = [...new Set(banks.map((bank) => bank.channel))];
    room.replaceChildren(figure(`What the schedulers of each SM did, ${name}.`, causes, (width) => Plot.plot({width, height: 230, marginTop: 26, marginLeft: 46, marginBottom: 32, x: {type: "band", label: "SM →", tickSize: 0, ticks: every(units.sms.length)}, y: {label: "↑ share, %", percent: true, grid: true, ticks: 5},
        marks: [Plot.barY(stacked, {x: "sm", y: "share", fill: (row) => colour(row.colour), order: null, insetLeft: 0.5, insetRight: 0.5, title: (row) => `SM ${row.sm}: ${row.label} ${percent(row.share)}`})]}), "What the schedulers of each SM did"),
      element("div", {class: "grid"}, bySm("Warp instructions, by SM.", "warp_instructions", count), bySm("Thread blocks, by SM.", "ctas_launched", count), bySm("L1D misses, % of lookups, by SM.", "l1d_miss_rate", percent, 100)),
      ...(banks.some((bank) => UNITS[0].value(bank) > 0) ? [element("div", {class: "controls"}, choose("Show for each DRAM bank", UNITS.map((unit) => unit.label), (i) => { shown = i; show(); })),
        figure(`DRAM banks, by channel: ${what.label}. The darkest bank has ${what.show(most)}.`, null, (width) => Plot.plot({width, height: 56 + rowsHigh(channels.length) * channels.length, marginTop: 8, marginLeft: 80, marginBottom: 34, padding: 0.06, x: {type: "band", label: "bank →", tickSize: 0}, y: {type: "band", label: null, tickSize: 0, domain: channels, ticks: namedRows(channels), tickFormat: (i) => `channel ${i}`},
          marks: [Plot.cell(banks, {x: "bank", y: "channel", fill: colour("--memory"), fillOpacity: (bank) => 0.06 + 0.94 * (bank.value / most || 0), rx: 2, title: (bank) => `channel ${bank.channel}, bank ${bank.bank}: ${what.show(bank.value)}`})], opacity: {type: "identity"}}), "DRAM banks by channel")] : []));
    room.querySelectorAll("select").forEach((select) => { select.value = shown; });
    drawFigures();
  }
  section("units", "By unit", "Bars of equal height and cells of equal shade mean that the work is spread evenly.", split.length > 1 ? element("div", {class: "controls"}, choose("Run", split.map((run) => run.name), (i) => { which = i; show(); })) : null, room);
  show();
}

/* Caches with counters for each set: the L1Ds of all SMs together, and each L2 slice. */
const SET_CACHES = [{key: "l1d", units: "sms", title: "L1D"}, {key: "l2", units: "slices", title: "L2"}];
const SET_COUNTS = [{key: "accesses", label: "lookups", colour: "--issued"}, {key: "misses", label: "misses", colour: "--memory"}, {key: "evictions", label: "evictions", colour: "--result"}];
const setsOf = (run, cache) => ((run.units || {})[cache.units] || []).filter((unit) => unit.sets && unit.sets.accesses.length);
const addSets = (units, key) => d3.range(units[0].sets[key].length).map((set) => d3.sum(units, (unit) => unit.sets[key][set]));

/* Rows of cells, one for each set, whose shade is the count; `rows` are {name, counts, colour}. */
function setStrips(rows, width, options = {}) {
  const cells = rows.flatMap((row) => { const most = row.most || d3.max(row.counts) || 1; return row.counts.map((value, set) => ({set, name: row.name, value, shade: value / most, colour: row.colour})); });
  const sets = rows[0].counts.length, high = rowsHigh(rows.length), wide = (width - 100) / sets;
  return Plot.plot({width, height: 44 + high * rows.length, marginTop: 4, marginLeft: 80, marginRight: 20, marginBottom: 34, padding: wide > 6 && high > 8 ? 0.08 : 0,
    x: {type: "band", label: "set →", tickSize: 0, ticks: sets > 20 ? d3.range(0, sets, d3.tickStep(0, sets, Math.max(4, width / 90))) : undefined}, y: {type: "band", label: null, tickSize: 0, domain: rows.map((row) => row.name), ticks: namedRows(rows.map((row) => row.name))},
    marks: [Plot.cell(cells, {x: "set", y: "name", fill: (cell) => colour(cell.value ? cell.colour : "--none"), fillOpacity: (cell) => (cell.value ? 0.1 + 0.9 * cell.shade : 0.5), title: (cell) => `${options.of || ""}${cell.name}, set ${cell.set}: ${count(cell.value)}${options.words || ""}`})], opacity: {type: "identity"}});
}

/* How evenly the sets of the caches were used. */
function setSection(runs) {
  const split = runs.filter((run) => SET_CACHES.some((cache) => setsOf(run, cache).length));
  if (!split.length) return;
  const room = element("div"), evenly = (cache, units) => (cache.key === "l1d" ? addSets(units, "accesses") : units.flatMap((unit) => unit.sets.accesses));
  let which = 0, shown = 0;
  /* The share of lookups by the share of sets, with the most used sets first. */
  const curve = (cache, run) => {
    const counts = evenly(cache, setsOf(run, cache)).sort(d3.descending), all = d3.sum(counts) || 1;
    return [0, ...d3.cumsum(counts)].map((value, i) => ({title: cache.title, sets: i / counts.length, share: value / all}));
  };
  function show() {
    const run = split[which], what = SET_COUNTS[shown], caches = SET_CACHES.filter((cache) => setsOf(run, cache).length);
    const tones = caches.map((cache, i) => ({label: `${cache.title} lookups`, title: cache.title, colour: TONES[i]}));
    const [l1d, l2] = SET_CACHES.map((cache) => setsOf(run, cache));
    const slices = l2.map((unit) => ({name: `${unit.channel}.${unit.slice}`, counts: unit.sets[what.key], colour: what.colour})), most = d3.max(slices, (row) => d3.max(row.counts)) || 0;
    room.replaceChildren(...(l1d.length ? [figure(`Sets of the L1Ds of all ${count(l1d.length)} SMs together, ${run.name}. The darkest cell of a row is its maximum; grey is 0.`, null, (width) => setStrips(SET_COUNTS.map((row) => ({name: row.label, counts: addSets(l1d, row.key), colour: row.colour})), width), "Lookups, misses and evictions of each set of the L1Ds")] : []),
      ...(l2.length ? [element("div", {class: "controls"}, choose("Show for each L2 set", SET_COUNTS.map((row) => row.label), (i) => { shown = i; show(); })),
        figure(`Sets of L2, a row for each slice (channel.slice): ${what.label}. The darkest set has ${count(most)}; grey is 0.`, null, (width) => setStrips(slices.map((row) => ({...row, most})), width, {of: "slice ", words: " " + what.label}), "Counters of each set of each L2 slice")] : []),
      figure("Skew: the share of all lookups by the share of sets, most used sets first. The thin line means equal use of all sets.", tones, (width) => Plot.plot({width: Math.min(width, 560), height: 300, marginLeft: 46, marginBottom: 36, marginRight: 24, x: {label: "sets, % →", percent: true, grid: true, domain: [0, 100]}, y: {label: "↑ lookups, %", percent: true, grid: true, domain: [0, 100]},
        marks: [Plot.line([[0, 0], [1, 1]], {stroke: "currentColor", strokeOpacity: 0.5}), Plot.line(caches.flatMap((cache) => curve(cache, run)), {x: "sets", y: "share", z: "title", stroke: (point) => colour(tones.find((tone) => tone.title === point.title).colour), strokeWidth: 2})]}), "Share of lookups by share of sets"));
    room.querySelectorAll("select").forEach((select) => { select.value = shown; });
    drawFigures();
  }
  const rows = split.flatMap((run) => SET_CACHES.filter((cache) => (run.cache_sets || {})[cache.key]).map((cache) => ({run, cache, of: run.cache_sets[cache.key]})));
  const n = (title, value, showAs, note) => ({title, kind: "n", note, value, show: (row) => showAs(value(row))});
  section("sets", "Cache sets", "How evenly the sets are used: if many lookups go to a few sets, they evict each other while the rest of the cache is idle.",
    table([{title: "Run", value: (row) => row.run.name}, {title: "Cache", value: (row) => row.cache.title}, n("Sets", (row) => row.of.sets, count), n("Without a lookup", (row) => row.of.idle, count),
      ...SET_COUNTS.map((each) => n(`Imbalance of ${each.label}`, (row) => row.of[each.key].imbalance, percent, "how far the busiest set is above the mean, as a share of the mean"))], rows),
    split.length > 1 ? element("div", {class: "controls"}, choose("Run", split.map((run) => run.name), (i) => { which = i; show(); })) : null, room);
  show();
}

function counterSection(runs) {
  if (!runs.length) return;
  const names = Object.keys(runs[0].total).filter((name) => typeof runs[0].total[name] !== "object" || runs[0].total[name] === null);
  let wanted = "";
  const made = table([{title: "Counter", value: (name) => name, class: "code"}, ...runs.map((run) => ({title: run.name, kind: "n", value: (name) => run.total[name], show: (name) => (Number.isInteger(run.total[name]) ? count(run.total[name]) : fixed(run.total[name], 4))}))], names,
    {high: true, filter: (name) => name.toLowerCase().includes(wanted)});
  section("counters", "Every counter", null, element("details", {class: "all"}, element("summary", {}, `All ${names.length} counters and ratios`),
    element("div", {class: "controls"}, element("label", {}, "Names with ", element("input", {type: "search", on: {input: (event) => { wanted = event.target.value.toLowerCase(); made.refill(); }}}))), made));
}
