; Clara drops a file, Thomas_Mueller_Passport.pdf, which the upload service calls abc123.
client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau"
client.get-status
client.get-outstanding
