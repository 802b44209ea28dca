; Names that are not there, and what was meant (X2, U2).

client.add-noet :request-id @pierre-sow :note "x"  ;! unknown-verb `did you mean "client.add-note"?`
kyc.add-note :request-id @pierre-sow :note "x"  ;! unknown-verb `did you mean "client.add-note"?`
client.frobnicate :x 1  ;! unknown-verb `verbs of client: client.add-note`
zebra.frobnicate :x 1  ;! unknown-verb `the palettes say which verbs there are`
client.add-note :request-id @pierre-sow :notee "x"  ;! unknown-argument `did you mean ":note"?`
client.add-note :request-id @pierre-sow :note "x" :expected_date 2025-01-03  ;! unknown-argument `did you mean ":expected-date"?`
client.add-note :request-id @pierre-sow :note "x" :colour "red"  ;! unknown-argument `arguments not yet given: :expected-date`
client.add-note :request-id @pierre-sow :note "x" :note "y"  ;! duplicate-argument `given twice`
client.submit-document :request-id @pierre-sow :document-type PASPORT :file-reference "f"  ;! unknown-code `did you mean "PASSPORT"?`
client.submit-document :request-id @pierre-sow :document-type HAT :file-reference "f"  ;! unknown-code `document-type: PASSPORT, TAX_RETURN, AUDITED_ACCOUNTS, ADVISOR_LETTER`
client.submit-document :request-id @pierre-sow :document-type "passport" :file-reference "f"  ;! unknown-code `did you mean "PASSPORT"?`
client.submit-document :request-id @pierre-sow :document-type "PASSPORT" :file-reference "f"
client.add-note :request-id @piere-sow :note "x"  ;! unknown-name `did you mean "@pierre-sow"?`
client.add-note :request-id @zebra :note "x"  ;! unknown-name `that of a row you can see`
---
; A verb that nobody knows does not make its name unknown as well: one cause,
; one error (U3).

client.add-noet :request-id @pierre-sow :note "x" :as @note  ;! unknown-verb
client.drop-reminder :reminder-id @note
client.drop-reminder :reminder-id @note.anything
---
; What is missing is named all at once, with its type, and with an example where the
; palette gives one: nothing is made up that could be taken over as it is (F16).

client.add-note :request-id @pierre-sow  ;! missing-argument `:note is missing` `add :note "Accountant on leave"`
client.submit-document :notes "x"  ;! missing-argument `client.submit-document needs :request-id, :document-type and :file-reference` `3 arguments are missing` `add :document-type <code document-type>`
client.add-note :request-id @pierre-sow :note nil  ;! missing-argument `nil gives nothing`
client.add-note :request-id @pierre-sow :note "x" :expected-date nil
---
; Inside an unknown argument, other mistakes are still found.

client.add-note :request-id @pierre-sow :note "x" :colour [@nobody (client.nothing)]  ;! unknown-argument ;! unknown-name ;! unknown-verb
