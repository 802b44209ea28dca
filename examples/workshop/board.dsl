workshop.board
