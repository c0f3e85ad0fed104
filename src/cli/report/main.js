/* Reads the page's data, and builds the page. The data of an unfinished run include its state. */
function build(held) {
  const documents = held.documents.map((each) => (each.data && each.data.live ? {...each, data: each.data.run} : each));
  for (const id of ["masthead", "contents", "main"]) document.getElementById(id).replaceChildren();
  figures.length = 0;
  const runs = documents.flatMap(runsOf), tables = documents.filter((each) => each.text !== undefined).flatMap(readTable);
  nameRuns(runs);
  masthead(runs, tables);
  if (held.live) liveSection(held.documents[0].data.live);
  experimentSection(tables);
  failureSection(documents);
  leagueSection(documents);
  sweepSection(documents);
  runsSection(runs);
  stallSection(runs);
  timeSection(runs);
  sourceSection(runs);
  limitSection(runs);
  rooflineSection(runs, held.machines);
  memorySection(runs);
  setSection(runs);
  unitSection(runs);
  blockSection(runs);
  kernelSection(runs);
  counterSection(runs);
  drawFigures();
}

const held = JSON.parse(document.getElementById("data").textContent);
build(held);
if (held.live) follow(held);
addEventListener("resize", drawFigures);
document.documentElement.dataset.ready = "yes";
