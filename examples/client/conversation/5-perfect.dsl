; Clara: "Perfect"
client.get-status
