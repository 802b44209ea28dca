// Says which sentences xgrammar, with which vLLM holds models to grammars, takes under each of
// some grammars, and which JSON Schemas it reads. The first argument is the folder that holds
// node_modules.
//
// Reads {"grammars": [{"grammar": text, "sentences": [text]}], "schemas": {name: schema}} and writes
// {"version": text, "verdicts": [{"xgrammar": {"loaded": seconds, "took": seconds,
// "error": text, "accepts": [bool]}}], "refused": {name: error}}.
import { readFileSync, writeSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { join } from "node:path";

const folder = join(process.argv[2], "node_modules", "@mlc-ai", "web-xgrammar");
const file = join(folder, "lib", "index.js");
let fatal = ""; // what it writes before it aborts
console.log = console.error = console.warn = (...words) => {
  const text = words.join(" ");
  if (text.includes("FATAL")) fatal = text.replace(/^.*\/cpp\//, "");
};
const program = readFileSync(file, "utf8");
let library, compiler;
// It is loaded anew after each refusal, since it aborts.
async function load() {
  const loaded = new Module(file); // its package says that it is a module of ECMAScript, which it is not
  loaded.require = createRequire(file);
  loaded.filename = file;
  loaded._compile(program, file);
  library = loaded.exports;
  // The compiler wants a vocabulary; texts are read without.
  compiler = await library.GrammarCompiler.createGrammarCompiler(await library.TokenizerInfo.createTokenizerInfo(["<end>", "a"], "raw", false, 2, [0]));
}
await load();

async function verdict(grammar, sentences) {
  const begun = performance.now();
  let reader, matcher;
  try {
    reader = await compiler.compileGrammar(grammar);
    matcher = await library.GrammarMatcher.createGrammarMatcher(reader, undefined, true);
  } catch {
    await load();
    return { loaded: 0, took: 0, error: fatal, accepts: [] };
  }
  const loaded = performance.now();
  const accepts = [];
  for (const s of sentences) {
    accepts.push(matcher._acceptString(s) && matcher.isTerminated());
    matcher.reset();
  }
  matcher.dispose();
  reader.dispose();
  return { loaded: (loaded - begun) / 1000, took: (performance.now() - loaded) / 1000, error: "", accepts };
}

const asked = JSON.parse(readFileSync(0, "utf8"));
const verdicts = [];
for (const g of asked.grammars ?? []) verdicts.push({ xgrammar: await verdict(g.grammar, g.sentences) });
const refused = {};
for (const [name, schema] of Object.entries(asked.schemas ?? {})) {
  try {
    (await library.Grammar.fromJSONSchema(JSON.stringify(schema))).dispose();
  } catch {
    refused[name] = fatal;
    await load();
  }
}
const version = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
let answer = Buffer.from(JSON.stringify({ version, verdicts, refused }));
while (answer.length > 0) answer = answer.subarray(writeSync(1, answer));
