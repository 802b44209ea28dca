# Rosa and Omar look after what is asked and told. Their role sees all, and so a second
# administrator agrees.
system.grant-high-role :principal-id "rosa" :role "compliance"
system.grant-high-role :principal-id "omar" :role "compliance"
