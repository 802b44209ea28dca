; The café has a party: two things at once, and the order is complete.
retail.open-order :customer-id @cafe-pruckel :address-id @cafe-pruckel-wien :number "V-1007" :as @party
retail.fill-order :order-id @party :lines [{:product @blue-mug :quantity 4} {:product @sticker :quantity 20}]
retail.place-order :order-id @party
