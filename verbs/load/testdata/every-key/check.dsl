pay.survey :text "All of it" :reference "AB123456" :copies 2 :rate 12.50 :urgent true
    :day 2025-01-20 :moment 2025-01-20T10:00:00Z :within "1d12h"
    :trace 123e4567-e89b-12d3-a456-426614174000 :status DRAFT :supplier-id @acme
    :email "clara@example.com" :phone "+44 20 7946 0018" :price {:amount 12.50 :currency EUR}
    :address {:street "Main Street 1" :city "Vienna" :since 2020-05-01} :size {:width 3}
    :tags ["a", "b"] :history [DRAFT, RELEASED] :anything {:a [1, 2.50, nil]} :iban "DE89 3704 0044 0532 0130 00"
    :bank "DEUTDEFF" :company "5493001KJTIIGC8Y1R12" :desk "01 234567890" :national-id "131052-308T"
    :invoice "upload://thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau"

pay.enter-several :due 2025-03-01
    :lines [{:supplier @acme :amount 12.50 :currency EUR :note "paper"} {:supplier @acme :amount 3 :currency EUR}]

pay.plan-a-call :what (pay.clear-drafts :supplier-id @acme)
pay.plan-calls :all [(pay.enter :supplier-id @acme :amount 12 :currency EUR :due 2025-03-01 :as @new)
    (pay.postpone :payment-id @new :days 5)]
