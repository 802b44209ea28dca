-- Two deals, and who works on each.
INSERT INTO deal (deal_id, name) VALUES
    ('00000001-0000-4000-8000-000000000001', 'Grevenau (Project Heron)'),
    ('00000001-0000-4000-8000-000000000002', 'Tollmere (Project Osprey)');
INSERT INTO verbatim_principal (name, label) VALUES ('ada', 'Ada Novak'), ('leo', 'Leo Brandt');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('ada', 'analyst', 'deal', '00000001-0000-4000-8000-000000000001'),
    ('leo', 'analyst', 'deal', '00000001-0000-4000-8000-000000000002');
