# A flat battery, and a truck that comes on Monday.
workshop.add-hours :job-id @job-5003 :mechanic-id @priya-nair :hours 2.50 :what "Change the battery, clean the earth strap"
workshop.use-part :job-id @job-5003 :part-id @bat-0110 :quantity 1
workshop.book :depot-id @leeds :vehicle-id @yk68-lry :complaint "Pulls to the left" :bay 3 :day 2024-12-30
