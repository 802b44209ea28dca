// Counts the tokens of texts as o200k has them. The first argument is the folder that holds
// node_modules. Reads a list of texts and writes a list of numbers.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "node_modules", "x.js"));
const { Tiktoken } = require("js-tiktoken/lite");
const encoding = new Tiktoken(require("js-tiktoken/ranks/o200k_base"));
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encoding.encode(text, "all").length)));
