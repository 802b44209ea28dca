# Who works for which organisation. An administrator runs this.
system.add-principal :name "nadia" :label "Nadia Achieng" :as @new-nadia
system.describe-principal :principal-id @new-nadia :email "nadia@savanna.example" :language "en"
system.grant-role :principal-id @new-nadia :role "member"
system.grant-scope :principal-id @new-nadia :entity "organisation" :key "00000001-0000-4000-8000-000000000001"
system.add-principal :name "ben" :label "Ben Okoro" :as @new-ben
system.describe-principal :principal-id @new-ben :email "ben@savanna.example" :language "en"
system.grant-role :principal-id @new-ben :role "member"
system.grant-scope :principal-id @new-ben :entity "organisation" :key "00000001-0000-4000-8000-000000000001"
system.add-principal :name "vik" :label "Vik Rao" :as @new-vik
system.describe-principal :principal-id @new-vik :email "vik@savanna.example" :language "en"
system.grant-role :principal-id @new-vik :role "viewer"
system.grant-scope :principal-id @new-vik :entity "organisation" :key "00000001-0000-4000-8000-000000000001"
system.add-principal :name "omar" :label "Omar Diallo" :as @new-omar
system.describe-principal :principal-id @new-omar :email "omar@savanna.example" :language "fr"
system.grant-role :principal-id @new-omar :role "manager"
system.grant-scope :principal-id @new-omar :entity "organisation" :key "00000001-0000-4000-8000-000000000001"
system.add-principal :name "ruth" :label "Ruth Mwangi" :as @new-ruth
system.describe-principal :principal-id @new-ruth :email "ruth@savanna.example" :language "en"
system.grant-role :principal-id @new-ruth :role "manager"
system.grant-scope :principal-id @new-ruth :entity "organisation" :key "00000001-0000-4000-8000-000000000001"
system.add-principal :name "pia" :label "Pia Lind" :as @new-pia
system.describe-principal :principal-id @new-pia :email "pia@borealis.example" :language "de"
system.grant-role :principal-id @new-pia :role "member"
system.grant-scope :principal-id @new-pia :entity "organisation" :key "00000001-0000-4000-8000-000000000002"
system.add-principal :name "jon" :label "Jon Berg" :as @new-jon
system.describe-principal :principal-id @new-jon :email "jon@borealis.example" :language "es"
system.grant-role :principal-id @new-jon :role "manager"
system.grant-scope :principal-id @new-jon :entity "organisation" :key "00000001-0000-4000-8000-000000000002"
