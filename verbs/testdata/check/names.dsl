; Bindings: any order, cycles named, kinds compared, fields known (OB1).

client.drop-reminder :reminder-id @r
client.remind :request-id @pierre-sow :on 2025-01-03 :as @r
---
client.remind :request-id @pierre-sow :on @o.due-date :as @r  ;! unused-binding
client.get-request :request-id @pierre-sow :as @o
---
client.drop-reminder :reminder-id @o  ;! bad-ref-kind `:reminder-id wants a reference to a reminder; @o is an outstanding-request`
client.get-request :request-id @pierre-sow :as @o
---
client.remind :request-id @pierre-sow :on @o.due-dat  ;! unknown-field `did you mean "due_date"?`
client.get-request :request-id @pierre-sow :as @o
---
client.remind :request-id @pierre-sow :on @pierre-sow.due_date
client.remind :request-id @pierre-sow :on @pierre-sow.client_notes  ;! wrong-type `:on wants a date; @pierre-sow.client_notes is a string`
client.remind :request-id @pierre-sow :on @pierre-sow.person.cbu.name  ;! wrong-type
client.remind :request-id @pierre-sow :on @pierre-sow.person.cbu.nam  ;! unknown-field `cbu has no field called "nam"`
client.remind :request-id @pierre-sow :on @pierre-sow.due_date.year  ;! unknown-field `a single value, without fields`
client.remind :request-id @pierre-sow :on @pierre-sow  ;! wrong-type `a field of it may be meant: @pierre-sow.due_date`
client.get-outstanding :cbu-id @pierre.cbu
client.get-outstanding :cbu-id @pierre  ;! bad-ref-kind `it refers to one: @pierre.cbu`
client.add-note :request-id @pierre-sow :note @pierre.name
---
client.remind :request-id @pierre-sow :on 2025-01-03 :as @r
client.remind :request-id @pierre-sow :on 2025-01-03 :as @r  ;! duplicate-binding `two calls are called @r`
client.drop-reminder :reminder-id @r
---
client.remind :request-id @pierre-sow :on 2025-01-03 :as @pierre  ;! binding-shadows-name
client.drop-reminder :reminder-id @pierre
---
; A binding hides the name, whatever it stands for.
client.get-request :request-id @pierre-sow :as @o  ;! unused-binding
client.get-request :request-id @maria-dob
---
; One call alone may keep its name for whoever asks next.
client.get-request :request-id @pierre-sow :as @o
---
client.add-note :request-id @b :note "x" :as @a  ;! cycle `these 3 calls wait for one another` `client.add-note waits for @b`
client.add-note :request-id @c :note "x" :as @b
client.add-note :request-id @a :note "x" :as @c
client.add-note :request-id @a :note "only waits for the ring"
client.add-note :request-id @d :note "x" :as @d  ;! cycle `uses its own result, @d`
---
; Nested calls (OB2): the inner one runs first and its result is the value.
client.drop-reminder :reminder-id (client.remind :request-id @pierre-sow :on 2025-01-03)
client.drop-reminder :reminder-id (client.get-request :request-id @pierre-sow)  ;! bad-ref-kind `the result of client.get-request is an outstanding-request`
client.drop-reminder :reminder-id (client.remind :request-id @pierre-sow)  ;! missing-argument
bank.everything :anything [(client.remind :request-id @in :on 2025-01-03) {:x (client.get-request :request-id @pierre-sow :as @in)}]
client.add-note :request-id (client.get-request :request-id @o) :note "x" :as @o  ;! cycle `client.add-note waits for the call inside it`
---
;no-session
; Without a session every name is left to the run.
client.add-note :request-id @anything-at-all :note @some.field
