// An OpenID provider for tests: node provider.mjs MODULE PORT REDIRECT. Whoever comes is
// who they say; it asks in its own pages.
const { default: Provider } = await import(process.argv[2]);
const [port, redirect] = process.argv.slice(3);
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{
    client_id: "verbatim",
    client_secret: "secret",
    redirect_uris: [redirect],
    response_types: ["code"],
    grant_types: ["authorization_code"],
  }],
  pkce: { required: () => true },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
