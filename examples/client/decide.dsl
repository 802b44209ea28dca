; The passport is good.
review.accept :request-id @thomas-muller-identity
