workshop.receive :invoice-id @invoice-70001 :amount 1000.00
workshop.receivables :day 2024-12-27
