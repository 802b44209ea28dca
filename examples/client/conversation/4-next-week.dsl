; Clara: "Still waiting on our accountant. Should have them next week."
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Waiting on accountant" :expected-date 2025-01-03
client.get-commitments
