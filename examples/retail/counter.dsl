; Over the counter: four verbs in one word.
retail.sell :customer-id @cafe-pruckel :address-id @cafe-pruckel-wien :number "V-1005" :product-id @blue-mug :quantity 6 :amount {:amount 75.00 :currency EUR} :method CASH
