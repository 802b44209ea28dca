// A client that is made of the description: node openapi.mjs MODULES FILE TOKEN. It says
// whether the description is valid OpenAPI, and makes a call.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, file, token] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/"));
const definition = JSON.parse(readFileSync(file));
const { Validator } = await import(pathToFileURL(require.resolve("@seriousme/openapi-schema-validator")));
const valid = await new Validator().validate(definition);
console.log("valid", valid.valid, valid.errors ?? "");

const { OpenAPIClientAxios } = require("openapi-client-axios");
const api = new OpenAPIClientAxios({ definition, axiosConfigDefaults: { headers: { Authorization: `Bearer ${token}` }, validateStatus: () => true } });
const client = await api.getClient();
const added = await client["system__add-principal"]({ "Idempotency-Key": "once" }, { name: "otto", label: "Otto" });
console.log("added", added.status, added.data.outcome ?? added.data.title);
const again = await client["system__add-principal"]({ "Idempotency-Key": "once" }, { name: "otto", label: "Otto" });
console.log("again", again.status, again.data.repeated);
const wrong = await client["system__add-principal"]({}, { name: "" });
console.log("wrong", wrong.status, wrong.data.code);
