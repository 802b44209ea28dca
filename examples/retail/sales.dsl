; What was sold in December.
retail.sales :since 2024-12-01
