; Clara: "Maria was born March 15, 1972. I have Thomas's passport here."
client.provide-info :request-id @maria-schmidt-date-of-birth :info-type DATE_OF_BIRTH :collected-data {:date_of_birth 1972-03-15}
client.get-status
