; An order, from the first item to the post office. Three stickers at 0.10 are
; 0.30, to the cent.
retail.open-order :customer-id @anna-berger :address-id @anna-berger-wien :number "V-1004" :as @order
retail.add-item :order-id @order :product-id @espresso-cup :quantity 2
retail.add-item :order-id @order :product-id @sticker
retail.add-item :order-id @order :product-id @sticker
retail.add-item :order-id @order :product-id @sticker
retail.place-order :order-id @order
retail.pay :order-id @order :amount {:amount 10.00 :currency EUR} :method CASH
retail.pay :order-id @order :amount {:amount 8.10 :currency EUR} :method CARD
retail.ship :order-id @order :tracking "AT00012345"
