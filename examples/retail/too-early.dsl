; Out of order: nobody has paid for V-1003, and it is still being put together.
retail.ship :order-id @v-1003 :tracking "AT00012346"
