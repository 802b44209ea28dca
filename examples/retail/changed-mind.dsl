; Anna pays with what is left of her gift card and with cash, and changes her mind.
retail.open-order :customer-id @anna-berger :address-id @anna-berger-wien :number "V-1006" :as @order
retail.add-item :order-id @order :product-id @blue-mug :quantity 2
retail.place-order :order-id @order
retail.pay-by-card :order-id @order :card-id @gc-0001
retail.pay :order-id @order :amount {:amount 5.00 :currency EUR} :method CASH
retail.cancel :order-id @order
retail.gift-card :card-id @gc-0001
