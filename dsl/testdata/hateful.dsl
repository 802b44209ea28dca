; hi
client.add-note :request-id @pierre-sow :note "Accountant is sending it" :expected-date 2025-01-03
(client.a :x [1, 2 3] :y {:k "v\n\u{1F600}\uD83D\uDE00" :b nil} :z (c.d :e true :as @q) :as @p) # c
c.d :x -3.50 :u ABCDEF01-2345-6789-abcd-ef0123456789 :t 2025-01-03t10:00:00.5z c.e :x 1
(a.b :x [1 2
(c.d :y 2)
c.good :z 3
Client.AddNote :Note "x"
a.b :note Waiting on accountant :y 1
a.b note "x", :y=3 :z 1,000 :d 2025-02-30 :e 2025-1-3 :f 007
a.b :note "hello "there" you" :x 1
a.b :note "open
a.ok :x 1
a.b :j {"street": "x", "city": "y"} :k [1 2) :z 1
a.ok :x 1
Sure, here are the calls:
```
client.add-note(request-id: @x, note: "y")
a.ok :x 1
```
a.b :x “hello” :y 'it''s' :z :w 1
a.b :x "multi
 line" :y 1
a.ok
add-note :x 1
a.b :email joe@example.com :f report.pdf :x null
a.b :as x
