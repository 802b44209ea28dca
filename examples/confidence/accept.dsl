;; Olga looked herself, and lets this one answer pass. @STEP is what plan.doubts calls it.
plan.accept :step-id @STEP :reason "Zeppelin Works is not in our graph, I looked in the register"
