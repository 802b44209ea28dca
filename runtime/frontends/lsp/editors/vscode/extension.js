// Starts `verbatim lsp` for scripts and palettes; all that it tells comes from there.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("verbatim").get("program");
  client = new LanguageClient("verbatim", "Verbatim", { command, args: ["lsp"] }, {
    documentSelector: [{ language: "verbatim" }, { language: "yaml", scheme: "file" }],
  });
  return client.start();
};

exports.deactivate = () => client && client.stop();
