-- Whom the bank of the example knows, which companies ask, and who looks after it.
INSERT INTO register (register_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'People');

INSERT INTO threshold (threshold_id, register, level, similarity, identifiers, held) VALUES
    ('00000002-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'LOW', '0.60', 1, FALSE),
    ('00000002-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'STANDARD', '0.60', 1, FALSE),
    ('00000002-0000-4000-8000-000000000003', '00000001-0000-4000-8000-000000000001', 'HIGH', '0.80', 2, TRUE);

INSERT INTO person (person_id, register, record, full_name, other_name, phone, email, ssn, birth_date, consents) VALUES
    ('00000003-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'R-1001', 'John Smith', NULL, '5550123', 'john.smith@mail.example', '219-09-9999', '1980-05-01', '["ACCOUNT_OPENING","PAYMENT"]'),
    ('00000003-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'R-1002', 'Maria García López', 'Maria García', '4155550132', 'mgarcia@mail.example', '078-05-1120', '1975-11-30', '["ACCOUNT_OPENING"]'),
    ('00000003-0000-4000-8000-000000000003', '00000001-0000-4000-8000-000000000001', 'R-1003', 'Wei Zhang', NULL, '2125550171', 'wei.zhang@mail.example', '457-55-5462', '1990-02-14', '[]'),
    ('00000003-0000-4000-8000-000000000004', '00000001-0000-4000-8000-000000000001', 'R-1004', 'Ana Novak', NULL, '2065550144', 'ana.novak@mail.example', '536-22-1234', '1962-07-09', '["ACCOUNT_OPENING"]'),
    ('00000003-0000-4000-8000-000000000005', '00000001-0000-4000-8000-000000000001', 'R-1005', 'Ana Novak', NULL, '2065550144', 'a.novak@post.example', '536-22-9876', '1993-01-21', '["ACCOUNT_OPENING"]'),
    ('00000003-0000-4000-8000-000000000006', '00000001-0000-4000-8000-000000000001', 'R-1006', 'William O''Brien', NULL, '3125550188', 'bill@mail.example', '387-01-4455', '1958-03-17', '["ACCOUNT_OPENING","PAYMENT"]');

INSERT INTO peer (peer_id, name, level, held) VALUES
    ('00000004-0000-4000-8000-000000000001', 'Northbank', 'STANDARD', FALSE),
    ('00000004-0000-4000-8000-000000000002', 'Southbank', 'STANDARD', FALSE);

INSERT INTO verbatim_principal (name, label) VALUES
    ('northbank', 'Agent of Northbank'), ('southbank', 'Agent of Southbank'), ('safe-wallet', 'Safe Wallet'), ('other-wallet', 'Other Wallet'),
    ('rosa', 'Rosa Lind'), ('omar', 'Omar Haddad');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('northbank', 'peer', 'peer', '00000004-0000-4000-8000-000000000001'),
    ('southbank', 'peer', 'peer', '00000004-0000-4000-8000-000000000002'),
    ('safe-wallet', 'wallet', '', ''), ('other-wallet', 'wallet', '', ''),
    ('rosa', 'compliance', '', ''), ('omar', 'compliance', '', '');
