-- Who may do what. Mara and Otto work in Vienna, Jana in Zürich; Erik reads the
-- books of both.
INSERT INTO verbatim_principal (name, label) VALUES
    ('mara', 'Mara'),
    ('otto', 'Otto'),
    ('jana', 'Jana'),
    ('erik', 'Erik');

INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('mara', 'clerk', 'shop', '00000001-0000-4000-8000-000000000001'),
    ('otto', 'manager', 'shop', '00000001-0000-4000-8000-000000000001'),
    ('jana', 'clerk', 'shop', '00000001-0000-4000-8000-000000000002'),
    ('erik', 'accountant', '', '');

-- Erik also keeps the journal.
INSERT INTO verbatim_grant (principal, role) VALUES ('erik', 'journal-keeper');
