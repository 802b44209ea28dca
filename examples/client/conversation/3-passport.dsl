; Clara drops a file, Thomas_Mueller_Passport.pdf, which the upload service calls abc123.
client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://abc123"
client.get-status
client.get-outstanding
