; A hand grinder came back broken.
retail.refund :order-id @v-1001 :amount {:amount 149.00 :currency EUR} :reason DAMAGED
