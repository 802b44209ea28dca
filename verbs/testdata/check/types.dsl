; Values of every type, right and wrong (X2, O4). Errors of one line stand in
; the order of the text.

bank.everything :count 0
bank.everything :count 10
bank.everything :count 11  ;! out-of-range `11 is more than :count allows` `the most is 10`
bank.everything :count -1  ;! out-of-range `the least is 0`
bank.everything :count 1.5  ;! wrong-type `:count wants an integer; this is a decimal`
bank.everything :count "5"  ;! wrong-type `without the quotes`
bank.everything :count 99999999999999999999  ;! out-of-range `64 bits`
bank.everything :price 12
bank.everything :price 12.50
bank.everything :price 1000000.00
bank.everything :price 1000000.01  ;! out-of-range `the most is 1000000.00`
bank.everything :price -0.01  ;! out-of-range `the least is 0`
bank.everything :price 12.505  ;! too-precise `2 digits after the point` `nothing is rounded`
bank.everything :price "12.50"  ;! wrong-type `without the quotes`
bank.everything :price "12.50 euros"  ;! wrong-type `alone and without quotes: 12.50`
bank.everything :count "5 of 9"  ;! wrong-type `a number is written in digits, alone`
bank.everything :price "twelve"  ;! wrong-type `a number is written in digits, alone`
bank.everything :flag true
bank.everything :flag false
bank.everything :flag 1  ;! wrong-type `true or false is wanted here`
bank.everything :day 2025-01-03
bank.everything :day "2025-01-03"
bank.everything :day "2025-02-30"  ;! invalid-date `2025-02-30 is not a date; February 2025 has 28 days`
bank.everything :day "2025-13-01"  ;! invalid-date `months run from 01 to 12`
bank.everything :day "3 January"  ;! invalid-date `year-month-day`
bank.everything :day 1999-12-31  ;! out-of-range `earlier than :day allows` `the earliest is 2000-01-01`
bank.everything :day 5  ;! wrong-type `:day wants a date; this is an integer`
bank.everything :day 2025-01-03T10:00:00Z  ;! wrong-type `the day alone: 2025-01-03`
bank.everything :moment 2025-01-03T10:00:00Z
bank.everything :moment "2025-01-03T10:00:00+01:00"
bank.everything :moment 2025-01-03  ;! wrong-type `when in the day`
bank.everything :moment "2025-01-03T10:00:00"  ;! invalid-datetime `the time zone must be said`
bank.everything :within "90m"
bank.everything :within "1w2d3h4m5s"
bank.everything :within "P1DT12H"
bank.everything :within "P2W"
bank.everything :within "3 days"  ;! invalid-duration
bank.everything :within "2h1d"  ;! invalid-duration `from large to small`
bank.everything :within "P1M"  ;! invalid-duration `months and years vary`
bank.everything :within ""  ;! invalid-duration
bank.everything :id 123e4567-e89b-12d3-a456-426614174000
bank.everything :id "123E4567-E89B-12D3-A456-426614174000"
bank.everything :id "123"  ;! wrong-type `"123" is not a uuid`
bank.everything :email "clara@example.com"
bank.everything :email "jürgen@exämple.de"
bank.everything :email "Clara <clara@example.com>"  ;! invalid-email
bank.everything :email "clara"  ;! invalid-email
bank.everything :email "a@b@c"  ;! invalid-email
bank.everything :phone "+44 20 7946 0018"
bank.everything :phone "+1 (415) 555-0132"
bank.everything :phone "(415) 555-0132"  ;! invalid-phone `its country is not said`
bank.everything :phone "+44 555-01"  ;! invalid-phone `it has 5 digits, and those of +44 have 7 or 9 to 10 after the country`
bank.everything :phone "call me"  ;! invalid-phone
bank.everything :iban "de89 3704 0044 0532 0130 00"
bank.everything :iban "DE88 3704 0044 0532 0130 00"  ;! invalid-iban `its check digits do not fit the rest`
bank.everything :iban "DE8937O400440532013000"  ;! invalid-iban `is 0 meant`
bank.everything :iban "DЕ89370400440532013000"  ;! invalid-iban `only looks like E`
bank.everything :iban "DE893704004405320130"  ;! invalid-iban `it has 20 characters, and those of DE have 22`
bank.everything :iban 89370400440532013000  ;! wrong-type
bank.everything :bic "deutdeff"
bank.everything :bic "DEUTXXFF"  ;! invalid-bic `XX is none`
bank.everything :lei "5493001KJTIIGC8Y1R12"
bank.everything :lei "5493001KJTIIGC8Y1R13"  ;! invalid-lei
bank.everything :finn "131052-308t"
bank.everything :finn "131052-308U"  ;! invalid-national-id `is not a henkilötunnus`
bank.everything :person "211062-5629" :nationality "DK"
bank.everything :person "211062-5629" :nationality "FI"  ;! invalid-national-id `is not a henkilötunnus`
bank.everything :person "811228-9874" :nationality "SE"
bank.everything :person "211062-5629"  ;! invalid-national-id `its country is not said`
bank.everything :known-as [{:country "PL" :id "44051401359"}]
bank.everything :known-as [{:country "PL" :id "44051401358"}]  ;! invalid-national-id `is not a PESEL`
bank.everything :money {:amount 12.50 :currency EUR}
bank.everything :money {:currency "USD" :amount 3}
bank.everything :any-money {:amount 12.50 :currency BGN}  ;! ended-currency `its last day was 2025-12-31`
bank.everything :any-money {:amount 12.50 :currency XCG}
bank.everything :money {:amount 12.50 :currency GBP}  ;! unknown-code `currencies: EUR, USD`
bank.everything :money {:amount "12" :currency EUR}  ;! wrong-type
bank.everything :money {:amount 12}  ;! wrong-type `{:amount 12.50 :currency EUR}`
bank.everything :money 12.50  ;! wrong-type `{:amount 12.50 :currency EUR}`
bank.everything :tags ["a", "b"]
bank.everything :tags []  ;! too-short `at least 1 item`
bank.everything :tags ["a" "b" "c" "d"]  ;! too-long `1 item too many`
bank.everything :tags ["a" 2]  ;! wrong-type `item 2 of :tags wants a string; this is an integer`
bank.everything :tags ["a" nil]  ;! wrong-type `nil cannot stand in the list`
bank.everything :tags "a"  ;! wrong-type `a list is written [a, b]`
bank.everything :people [@pierre]
bank.everything :people [@pierre, @pierre-sow]  ;! bad-ref-kind `item 2 of :people`
bank.everything :anything {:a [1 2.50 {:b PASSPORT}]}
bank.everything :object {:a nil}
bank.everything :object [1]  ;! wrong-type `:object wants an object; this is a list`
bank.everything :code ANY_CODE
bank.everything :code "tax return"  ;! wrong-type `one word in capitals`
client.add-note :request-id @pierre-sow :note ""  ;! too-short `1 character or more`
client.add-note :request-id @pierre-sow :note PASSPORT  ;! wrong-type `text goes in quotes`
client.add-note :request-id @pierre-sow :note 2025-01-03  ;! wrong-type `text goes in quotes`
client.add-note :request-id "Pierre" :note "x"  ;! unknown-name `in quotes as it is called`
client.add-note :request-id "pierre wealth" :note "x"  ;! ambiguous-name `which one?`
client.add-note :request-id "pierre-sow" :note "x"
client.add-note :request-id "pierre" :note "x"  ;! bad-ref-kind
client.add-note :request-id 123e4567-e89b-12d3-a456-426614174000 :note "x"  ;! hard-coded-uuid
client.add-note :request-id "123e4567-e89b-12d3-a456-426614174000" :note "x"  ;! hard-coded-uuid
client.add-note :request-id 5 :note "x"  ;! wrong-type `a reference to an outstanding-request`
client.add-note :request-id @pierre-sow :note "a\u0000b"  ;! wrong-type `zero character`
