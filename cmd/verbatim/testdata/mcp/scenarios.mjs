// node scenarios.mjs SUITE URL SCENARIO… plays scenarios of the makers' suite in one process: to
// start it takes longer than to play one. Before what the suite prints of a scenario stands "=== NAME",
// and behind it "=== exit CODE".
const [suite, url, ...scenarios] = process.argv.slice(2);
const over = new Error("the scenario is over");
process.on("unhandledRejection", why => { if (why !== over) { console.error(why); exit(1); } });
const exit = process.exit;
for (const [n, scenario] of scenarios.entries()) {
	console.log("=== " + scenario);
	process.argv = [process.argv[0], suite, "server", "--url", url, "--scenario", scenario];
	const code = await new Promise(ends => {
		process.exit = code => { ends(code); throw over; };
		import(`file://${suite}?${n}`).catch(why => { if (why !== over) { console.error(why); ends(1); } });
	});
	console.log("=== exit " + code);
}
exit(0);
