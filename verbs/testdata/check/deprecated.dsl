; A deprecated verb still works, and says what to use (OB11).

client.noted :request-id @pierre-sow :text "x"  ;! deprecated-verb `use client.add-note instead`
