; Five mistakes, told all at once.
client.add-noet :request-id @pierre-dupont-source-of-wealth :note "Adviser is back"
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Back soon" :expected-date 2025-02-30
client.submit-document :request-id @thomas-muller-identity :document-type PASPORT :file-reference "upload://abc123"
client.add-note :request-id @maria-schmidt-date-of-birth :notes "Sent by post"
client.escalate :preferred-contact CALL :reason 12
