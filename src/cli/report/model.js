"use strict";
/* The report's data: turns documents into runs, and numbers into text. Nothing here draws. */

const CAUSES = [ /* causes of a scheduler's cycle: counters, label, colour */
  {key: "issued", of: ["issued"], label: "issued an instruction", colour: "--issued"},
  {key: "memory", of: ["scoreboard_memory"], label: "waited for memory", colour: "--memory"},
  {key: "result", of: ["scoreboard_other"], label: "waited for a result", colour: "--result"},
  {key: "lsu", of: ["pipeline_lsu"], label: "load/store unit full", colour: "--lsu"},
  {key: "pipeline", of: ["pipeline_other"], label: "other units full", colour: "--pipeline"},
  {key: "policy", of: ["throttled"], label: "policy held back", colour: "--policy"},
  {key: "barrier", of: ["idle_barrier"], label: "waited at a barrier", colour: "--barrier"},
  {key: "fetch", of: ["idle_fetch", "idle_branch"], label: "waited for a fetch", colour: "--fetch"},
  {key: "launch", of: ["idle_launch"], label: "waited for the launch", colour: "--turn"},
  {key: "none", of: ["idle_no_warp"], without: "idle_launch", label: "had no warp", colour: "--none"},
];

const STANDING = [ /* states of a warp, in the profile */
  {of: ["cycles_issued"], label: "issuing", colour: "--issued"},
  {of: ["cycles_memory", "cycles_atomic", "cycles_fence", "cycles_copy"], label: "waiting for memory", colour: "--memory"},
  {of: ["cycles_result", "cycles_product"], label: "waiting for a result", colour: "--result"},
  {of: ["cycles_lsu"], label: "load/store unit full", colour: "--lsu"},
  {of: ["cycles_pipeline"], label: "pipeline full", colour: "--pipeline"},
  {of: ["cycles_policy"], label: "held back by the policy", colour: "--policy"},
  {of: ["cycles_turn"], label: "ready, another warp issued", colour: "--turn"},
  {of: ["cycles_barrier", "cycles_registers"], label: "at a barrier", colour: "--barrier"},
  {of: ["cycles_fetch", "cycles_fetch_miss", "cycles_branch"], label: "waiting for instructions", colour: "--fetch"},
  {of: ["cycles_exited"], label: "draining after exit", colour: "--other"},
];

const CACHE = [ /* outcomes of lookups; `name` is the cache's */
  {part: "hits", label: "hit", colour: "--issued"},
  {part: "pending_hits", label: "hit on a line under way", colour: "--policy"},
  {part: "misses", label: "miss", colour: "--memory"},
];
const PIPELINES = [ /* to which warp instructions were issued; a machine without one of them counts its instructions in another */
  {of: ["sp_instructions"], label: "SP", colour: "--issued"},
  {of: ["int_instructions"], label: "INT", colour: "--policy"},
  {of: ["sfu_instructions"], label: "SFU", colour: "--barrier"},
  {of: ["dp_instructions"], label: "DP", colour: "--turn"},
  {of: ["tensor_instructions"], label: "tensor", colour: "--result"},
  {of: ["ldst_instructions"], label: "load/store", colour: "--lsu"},
];
const ROWS = [
  {part: "dram_row_hits", label: "row was open", colour: "--issued"},
  {part: "dram_row_misses", label: "bank was closed", colour: "--result"},
  {part: "dram_row_conflicts", label: "another row was open", colour: "--memory"},
];
const FETCH = [
  {part: "load_latency_noc", label: "in the networks", colour: "--policy"},
  {part: "load_latency_l2", label: "in L2 and its queues", colour: "--issued"},
  {part: "load_latency_queue", label: "waiting for DRAM", colour: "--result"},
  {part: "load_latency_dram", label: "in DRAM", colour: "--memory"},
];

const UNITS = [ /* values of a bank: label, value, format */
  {label: "requests", value: (bank) => sum(bank, ["dram_row_hits", "dram_row_misses", "dram_row_conflicts"]), show: (v) => count(v)},
  {label: "row hits, share of its requests", value: (bank) => ratio(bank.dram_row_hits, sum(bank, ["dram_row_hits", "dram_row_misses", "dram_row_conflicts"])), show: (v) => percent(v)},
  {label: "conflicts with another row", value: (bank) => bank.dram_row_conflicts, show: (v) => count(v)},
  {label: "rows opened", value: (bank) => bank.dram_activates, show: (v) => count(v)},
];
/* Colours of lines in the same figure: Okabe and Ito's and four dark ones, each with its own mark. */
const TONES = ["--tone-1", "--tone-2", "--tone-3", "--tone-4", "--tone-5", "--tone-6", "--tone-7", "--tone-8", "--tone-9", "--tone-10", "--tone-11", "--tone-12"];
const MARKS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "times", "plus", "asterisk", "square2", "diamond2"];

const sum = (from, keys) => keys.reduce((all, key) => all + (from[key] || 0), 0);
/* Cycles of a cause, without the part that is a separate cause. */
const causeCycles = (from, cause) => sum(from, cause.of) - (cause.without ? from[cause.without] || 0 : 0);
const isNumber = (value) => typeof value === "number" && isFinite(value);
const count = (value) => (isNumber(value) ? Math.round(value).toLocaleString("en") : "–");
const fixed = (value, digits = 2) => (isNumber(value)
  ? value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits}) : "–");
const percent = (value) => (isNumber(value) ? fixed(100 * value, 1) + "%" : "–");
const short = (value) => (Math.abs(value) >= 1000 ? d3.format("~s")(value) : String(value));
const whole = (value) => (Number.isInteger(value) ? short(value) : "");
/* 1, 2 and 5 of each power of ten. */
const logTicks = (low, high) => d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1).flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`))).filter((tick) => tick >= low && tick <= high);
const ratio = (above, below) => (below ? above / below : NaN);
const base = (path) => String(path).replace(/.*\//, "");

/* Runs of one document: a single run, those of a comparison, or those of a sweep. A sweep's runs
 * have their dimensions' values next to their results. */
function runsOf(document_) {
  const data = document_.data;
  if (!data || typeof data !== "object") return [];
  const given = Array.isArray(data.runs) ? data.runs : [data];
  return given.map((run) => (run && run.values && run.result ? {...run.result, values: run.values} : run))
    .filter((run) => run && run.total && Array.isArray(run.kernels)).map((run) => ({...withPlainNames(run), file: document_.name}));
}

/* C++ kernels by the names of their source. */
function withPlainNames(run) {
  const plain = new Map(run.kernels.filter((kernel) => kernel.demangled).map((kernel) => [kernel.kernel, kernel.demangled]));
  const rename = (kernel) => ({...kernel, kernel: plain.get(kernel.kernel) ?? kernel.kernel});
  return plain.size ? {...run, kernels: run.kernels.map(rename), profile: run.profile && run.profile.map(rename)} : run;
}

/* Names each run by the values in which the runs differ; equal names get numbers. */
function nameRuns(runs) {
  const keys = runs.length && runs.every((run) => run.values) ? Object.keys(runs[0].values) : ["program", "machine", "scheduler", "cta_scheduler"];
  const of = (run, key) => (run.values?.[key] || run[key]) ?? "functional"; // a sweep may leave a value to the machine: then take the run's
  const differing = keys.filter((key) => new Set(runs.map((run) => of(run, key))).size > 1);
  const seen = new Map();
  runs.forEach((run) => {
    const words = differing.length ? differing.map((key) => of(run, key)) : [runs.length > 1 ? base(run.file) : run.scheduler ?? "functional"];
    const times = (seen.get(words.join(", ")) || 0) + 1;
    seen.set(words.join(", "), times);
    run.name = words.join(", ") + (times > 1 ? ` (${times})` : "");
    run.own = differing.filter((key) => key !== "program" && key !== "machine").map((key) => of(run, key)).join(", ") || run.name;
  });
}

/* Groups runs by program and machine: speed-ups compare runs of the same group. */
const rivals = (runs) => [...d3.group(runs, (run) => `${base(run.program)} on ${run.machine}`)];
const fastest = (runs) => runs.reduce((a, b) => (b.total.cycles < a.total.cycles ? b : a));

/* Whether a swept value is a number or a size: lines connect only such values. */
const isQuantity = (text) => /^[-+]?[\d.]+(e[-+]?\d+)?([KMG]i?B?|B)?$/.test(text);

/* A sweep's points: program, value along the axis, first metric, and line, which names the other values. */
function pointsOf(data) {
  if (!data || !Array.isArray(data.metrics) || !data.x || !Array.isArray(data.runs)) return [];
  const runs = data.runs.filter((run) => run.result && run.values);
  const others = runs.length ? Object.keys(runs[0].values).filter((key) => key !== data.x && key !== "program" && new Set(runs.map((run) => run.values[key])).size > 1) : [];
  return runs.map((run) => ({program: data.x === "program" ? "" : base(run.values.program ?? ""), x: run.values[data.x], y: run.result.total[data.metrics[0]], line: others.map((key) => run.values[key]).join(", ") || "all"}))
    .filter((point) => isNumber(point.y));
}

/* The value of a key of a machine's file, "dram.bus", as a number: bytes for sizes, cycles, counts. */
function machineValue(text, path) {
  const wanted = path.split(".");
  const at = [];
  for (const line of (text || "").split("\n")) {
    const match = /^( *)([A-Za-z_0-9]+): *([^#]*)/.exec(line);
    if (!match) continue;
    at.length = match[1].length / 2;
    at.push(match[2]);
    if (at.join(".") !== wanted.join(".")) continue;
    const value = /^"?([\d.]+) *(KiB|MiB|GiB|kHz|MHz|GHz)?/.exec(match[3]);
    const scale = {KiB: 1024, MiB: 1048576, GiB: 1073741824, kHz: 1e3, MHz: 1e6, GHz: 1e9};
    return value ? Number(value[1]) * (scale[value[2]] || 1) : NaN;
  }
  return NaN;
}

/* The limits of a kernel on its machine: instructions per cycle by issue, and bytes per cycle by DRAM. The run's own peaks
   include --set and the user's machine files. Results of older versions have none; then the machine's file is used. */
function limitsOf(counters, machine, peaks) {
  if (peaks && isNumber(peaks.issue)) return {issue: 32 * peaks.issue, bytes: peaks.dram_tick_bytes, bandwidth: peaks.dram ?? NaN};
  const value = (path) => machineValue(machine, path);
  const interval = value("scheduler.issue_interval") || 1, width = value("scheduler.issue_width") || 1;
  const schedulers = ratio(counters.scheduler_cycles, counters.cycles);
  const bytes = value("dram.bus") * value("dram.data_rate");
  return {issue: 32 * schedulers * width / interval, bytes,
          bandwidth: bytes * ratio(counters.dram_ticks, counters.cycles)};
}

/* A point of the roofline; its intensity is NaN if the kernel moved no data. */
function pointOf(counters, limits) {
  return {intensity: ratio(counters.thread_instructions, counters.dram_bus_ticks * limits.bytes),
          speed: ratio(counters.thread_instructions, counters.cycles)};
}

/* Experiments: lines of the CSV of tyto reproduce. */
function readTable(document_) {
  const [names, ...rows] = d3.csvParseRows(document_.text || ""); /* not csvParse, which generates code from the names */
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ""])));
}
