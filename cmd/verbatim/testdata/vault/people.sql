INSERT INTO verbatim_principal (name, label) VALUES ('kit', 'Kit'), ('wanda', 'Wanda'), ('nil', 'Nil');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('kit', 'keeper', 'owner', '00000000-0000-4000-8000-0000000000a1'),
    ('wanda', 'warden', '', '');
