# The program's own, which stores messages, and who looks after those of strangers. Another
# administrator agrees to what sees every row.
system.grant-high-role :principal-id @channels :role "channel-door"
system.grant-high-role :principal-id @tia :role "triage"
