; The accountant is ill: another day instead of the first.
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Accountant is ill" :expected-date 2025-01-10
