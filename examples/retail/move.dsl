; Anna has moved. She said so herself, at the counter.
retail.change-address :address-id @anna-berger-wien :street "Praterstraße 1" :postcode "1020" :city "Wien"
