;; Roles that see all rows, which a second administrator agrees to.
system.grant-high-role :principal-id "plans" :role "plan-runner"
system.grant-high-role :principal-id "ed" :role "editor"
system.grant-high-role :principal-id "ada" :role "analyst"
system.grant-high-role :principal-id "olga" :role "plan-overseer"
system.grant-high-role :principal-id "olga" :role "analyst"
system.grant-high-role :principal-id "vera" :role "journal-keeper"
