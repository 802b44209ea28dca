desk.report :machine-id @press-2 :text "It does not start"
