; What the client said of a request: nobody has to agree to a note.
client.add-note :request-id @pierre-dupont-source-of-wealth :note "Waiting on accountant"
