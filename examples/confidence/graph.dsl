;; Who and what the graph of the example knows.
graph.add :name "Company A" :kind "company" :as @company-a
graph.add :name "Company B" :kind "company" :as @company-b
graph.add :name "John Doe" :kind "person" :as @john-doe
graph.add :name "Project X" :kind "venture" :as @project-x
graph.add :name "Entity X" :kind "entity"
graph.add :name "Entity Y" :kind "entity"
graph.add :name "Dr. Ada Berg" :kind "person" :as @dr-ada-berg
graph.add :name "Commission" :kind "authority" :as @commission
graph.add :name "Data Act" :kind "law" :as @data-act
graph.add :name "AI Act" :kind "law" :as @ai-act
graph.connect :subject-id @company-a :how "has a partnership agreement with" :object-id @company-b :since 2023-05-04
graph.connect :subject-id @john-doe :how "sits on the board of" :object-id @company-a :since 2021-01-01
graph.connect :subject-id @john-doe :how "sits on the board of" :object-id @company-b :since 2022-03-01
graph.connect :subject-id @company-a :how "founded" :object-id @project-x :since 2024-02-01
graph.connect :subject-id @company-b :how "founded" :object-id @project-x :since 2024-02-01
graph.connect :subject-id @commission :how "proposed" :object-id @ai-act :since 2021-04-21
graph.connect :subject-id @commission :how "proposed" :object-id @data-act :since 2022-02-23
graph.connect :subject-id @dr-ada-berg :how "advises" :object-id @commission
graph.file :title "Transparency duties" :content "AI regulation asks providers to say that people speak with a machine. Transparency duties hold for general models, too."
graph.file :title "High-risk systems" :content "High-risk systems under AI regulation need a risk assessment, human oversight and records before they are sold."
graph.file :title "Fines for breaches" :content "Fines for breaches of AI regulation reach 35 million euros or 7 percent of turnover."
graph.file :title "Sandboxes" :content "Member states open sandboxes in which AI regulation is tried with small companies."
graph.file :title "Prohibited practices" :content "AI regulation prohibits social scoring and the reading of emotions at work."
graph.file :title "Standards" :content "Standards say how the duties of AI regulation are met; the first drafts came in 2025."
graph.file :title "General models" :content "General models with systemic risk report incidents under AI regulation."
graph.file :title "Open source" :content "AI regulation leaves out open source models in part."
graph.file :title "Time table" :content "AI regulation begins to hold in steps from 2025 to 2027."
graph.file :title "Biometrics" :content "Biometrics in public places are limited by AI regulation."
graph.file :title "Employers" :content "Employers tell their staff when AI regulation concerns a tool."
graph.file :title "Notified bodies" :content "Notified bodies check products under AI regulation."
graph.file :title "Sector laws" :content "AI regulation stands beside sector laws for medicine and machines."
graph.file :title "Experts" :content "A panel of experts warns of risks under AI regulation."
graph.file :title "Registration" :content "AI regulation has a public register of high-risk systems."
graph.file :title "Harbours" :content "The harbour of Rotterdam widens its basins."
