; Two people do without the tax returns.
review.waive :request-id @pierre-dupont-source-of-wealth :reason "The adviser's letter of 2024 covers these years"
