workshop.finish :job-id @job-5003
