; What is still needed, and how far are we?
client.get-outstanding
client.get-status
