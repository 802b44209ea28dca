module bank

go 1.26.0
