; What waits for a review.
review.waiting
