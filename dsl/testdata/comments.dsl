

; hi
client.add-note    :request-id @pierre-sow :note "Accountant is sending it" :expected-date 2025-01-03 # tr
( ; odd
client.a :x [1, 2 3] :y {:k "v\n\u{1F600}\uD83D\uDE00" :b nil} :z (c.d :e true :as @q) :as @p) # c


a.b ; head
  :as @x ; about x
  ; about y
  :y ; between
  [ 1 ; one
   2, ; two
   ; dang
   ]
   (a.b :x 1 ;c1
   ; c2
   ) ; c3
client.add-note    :request-id @pierre-sow :note "Accountant is sending it, really and this is a very very long line" :expected-date 2025-01-03
client.add-note    :request-id @pierre-sow :list ["Accountant is sending it, really and this is a very very long line" "dsfkjdsflkjdsfldjs" 2025-01-03]
; end
