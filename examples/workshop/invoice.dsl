workshop.invoice :customer-id @aire-valley-couriers :job-ids [@job-5001 @job-5002]
