// Says which JSON Schemas ajv compiles, in strict mode, for the draft that they
// name and with the formats that its own package has. The first argument is the
// folder that holds node_modules.
//
// Reads {"schemas": {name: schema}} and writes {"version": text, "refused": {name: error}}.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "node_modules", "x.js"));
const { default: Ajv } = require("ajv/dist/2020.js");
const { default: addFormats } = require("ajv-formats");

const ajv = addFormats(new Ajv({ strict: true }));
const refused = {};
for (const [name, schema] of Object.entries(JSON.parse(readFileSync(0, "utf8")).schemas)) {
  try {
    ajv.compile(schema);
  } catch (e) {
    refused[name] = e.message;
  }
}
let answer = Buffer.from(JSON.stringify({ version: require("ajv/package.json").version, refused }));
while (answer.length > 0) answer = answer.subarray(writeSync(1, answer));
