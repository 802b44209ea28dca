; Objects meet their JSON Schema, and each mistake is found at its place inside
; the literal.

bank.everything :address {:street "Main Street 1" :city "Vienna" :since 2020-05-01 :kind HOME :floors [1 2] :rent 1250.10}
bank.everything :address {:street "Main Street 1"}  ;! schema-mismatch `:address is missing :city`
bank.everything :address {:street "" :city "Vienna"}  ;! schema-mismatch `:street in :address needs at least 1 characters`
bank.everything :address {:street "a" :city "b" :citty "c"}  ;! schema-mismatch `:address has no key :citty`
bank.everything :address {:stret "a" :city "b"}  ;! schema-mismatch `is missing :street` ;! schema-mismatch `did you mean ":street"?`
bank.everything :address {:street 5 :city "b"}  ;! schema-mismatch `:street in :address must be a string, not a number`
bank.everything :address {:street "a" :city "b" :since "yesterday"}  ;! schema-mismatch `:since in :address is not a date`
bank.everything :address {:street "a" :city "b" :kind HOM}  ;! schema-mismatch `did you mean "HOME"?`
bank.everything :address {:street "a" :city "b" :floors [1 -2]}  ;! schema-mismatch `item 2 in :floors in :address must be 0 or more`
bank.everything :address {:street "a" :city "b" :rent 1250.105}  ;! schema-mismatch `must be a multiple of 0.01`
bank.everything :address {:street @pierre.name :city "b"}
bank.everything :address "Main Street"  ;! wrong-type `an object is written {:key "value"}`
