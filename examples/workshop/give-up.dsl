workshop.write-off :invoice-id @invoice-70003
