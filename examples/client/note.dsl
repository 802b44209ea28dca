; One call: what the client said, and when it should be there.
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Waiting on accountant" :expected-date 2025-01-03
