workshop.book :depot-id @leeds :vehicle-id @yj19-bun :complaint "Second key" :bay 2 :day 2024-12-30
