# They said so on the telephone.
workshop.approve :job-id @job-5003 :amount 350.00
