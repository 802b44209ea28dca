; Clara's morning: the passport is here, the tax returns are not.
client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau"
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Waiting on accountant" :expected-date 2025-01-03
