-- A deal, and who works on it.
INSERT INTO deal (deal_id, name) VALUES
    ('00000001-0000-4000-8000-000000000001', 'Müller & Söhne'),
    ('00000001-0000-4000-8000-000000000002', 'Nordlicht');
INSERT INTO verbatim_principal (name, label) VALUES ('ada', 'Ada Novak'), ('leo', 'Leo Brandt');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('ada', 'analyst', 'deal', '00000001-0000-4000-8000-000000000001'),
    ('leo', 'analyst', 'deal', '00000001-0000-4000-8000-000000000002');
