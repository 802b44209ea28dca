; 2024-12-27, Clara: "Hi, what do you still need from us?"
client.get-status
client.get-outstanding
