;; What waits for somebody to say whether it will do.
plan.doubts
