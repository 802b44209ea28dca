# Who may ask, who may fetch, and who looks after it. An administrator runs this; a second
# one agrees to what opens all that is asked.
system.add-principal :name "northbank" :label "Agent of Northbank" :as @north
system.grant-role :principal-id @north :role "peer"
system.grant-scope :principal-id @north :entity "peer" :key "00000004-0000-4000-8000-000000000001"
system.add-principal :name "southbank" :label "Agent of Southbank" :as @south
system.grant-role :principal-id @south :role "peer"
system.grant-scope :principal-id @south :entity "peer" :key "00000004-0000-4000-8000-000000000002"
system.add-principal :name "safe-wallet" :label "Safe Wallet" :as @safe
system.grant-role :principal-id @safe :role "wallet"
system.add-principal :name "rosa" :label "Rosa Lind"
system.add-principal :name "omar" :label "Omar Haddad"
