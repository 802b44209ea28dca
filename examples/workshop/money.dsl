workshop.receive :invoice-id @invoice-70003 :amount 1299.85
workshop.receivables :day 2024-12-27
