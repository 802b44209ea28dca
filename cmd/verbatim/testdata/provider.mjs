// An OpenID provider for tests: node provider.mjs MODULE PORT REDIRECT. Whoever comes is
// who they say; it asks in its own pages. A line that it reads is a number of seconds: it begins
// anew with other keys, knows of nothing that was, and its clock is off by so much.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

let off = 0;
const now = Date.now;
Date.now = () => now() + off * 1000;

const { default: Provider } = await import(process.argv[2]);
const [port, redirect] = process.argv.slice(3);
let serve, begun = 0;
function begin(seconds) {
  off = seconds;
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  serve = new Provider(`http://localhost:${port}`, {
    clients: [{
      client_id: "verbatim",
      client_secret: "secret",
      redirect_uris: [redirect],
      response_types: ["code"],
      grant_types: ["authorization_code"],
      id_token_signed_response_alg: "ES256",
    }],
    jwks: { keys: [{ ...key, alg: "ES256", use: "sig", kid: `key ${++begun}` }] },
    pkce: { required: () => true },
    ttl: { Interaction: 86400, IdToken: 3600 },
  }).callback();
  console.log("ready");
}
createServer((request, response) => serve(request, response)).listen(Number(port), "127.0.0.1", () => begin(0));
for await (const line of createInterface({ input: process.stdin })) begin(Number(line));
