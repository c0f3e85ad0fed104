/* Reads what the page holds, and builds it. */
function build(held) {
  for (const id of ["masthead", "contents", "main"]) document.getElementById(id).replaceChildren();
  figures.length = 0;
  const runs = held.documents.flatMap(runsOf), tables = held.documents.filter((each) => each.text !== undefined).flatMap(readTable);
  nameRuns(runs);
  masthead(runs, tables);
  experimentSection(tables);
  sweepSection(held.documents);
  runsSection(runs);
  stallSection(runs);
  timeSection(runs);
  sourceSection(runs);
  rooflineSection(runs, held.machines);
  memorySection(runs);
  blockSection(runs);
  kernelSection(runs);
  counterSection(runs);
  drawFigures();
}

build(JSON.parse(document.getElementById("data").textContent));
addEventListener("resize", drawFigures);
document.documentElement.dataset.ready = "yes";
