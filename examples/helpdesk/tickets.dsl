desk.tickets :machine-id @press-2
