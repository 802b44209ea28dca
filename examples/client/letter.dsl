; What a letter says about where to pay, as a model read it.
client.name-repayment-account :cbu-id @allianz-reinsurance-ag :iban "LU280019400644750000"
