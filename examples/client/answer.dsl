; Clara's morning: the passport is here, the tax returns are not.
client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://abc123"
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Waiting on accountant" :expected-date 2025-01-03
