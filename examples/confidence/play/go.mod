module play

go 1.26.0
