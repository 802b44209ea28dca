;; Who asks, who fills the graph, and whom the program itself writes as. An administrator runs
;; this; a second one agrees to what sees all rows.
system.add-principal :name "plans" :label "Plans"
system.add-principal :name "ed" :label "Ed Moss" :as @ed
system.grant-role :principal-id @ed :role "planner"
system.add-principal :name "ada" :label "Ada Roth" :as @ada
system.grant-role :principal-id @ada :role "planner"
system.add-principal :name "olga" :label "Olga Brandt" :as @olga
system.grant-role :principal-id @olga :role "planner"
