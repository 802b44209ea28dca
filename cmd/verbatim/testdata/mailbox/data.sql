INSERT INTO home (home_id, name) VALUES
    ('00000001-0000-4000-8000-000000000001', 'Eva'),
    ('00000001-0000-4000-8000-000000000002', 'Stranger');
INSERT INTO contact (contact_id, home, name, email, iban, remark) VALUES
    ('00000002-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'Paul Wagner', 'paul@example.org', 'AT611904300234573201', 'Pays on time.'),
    ('00000002-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'Hanna Kern', 'hanna@example.org', 'DE02120300000000202051', NULL),
    ('00000002-0000-4000-8000-000000000003', '00000001-0000-4000-8000-000000000001', 'Gym', 'office@gym.example', 'AT483200000012345864', NULL),
    ('00000002-0000-4000-8000-000000000009', '00000001-0000-4000-8000-000000000002', 'Canary Contact', 'canary-5512@example.org', NULL, 'canary-5512');
INSERT INTO message (message_id, home, sender, subject, body, folder) VALUES
    ('00000003-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'paul@example.org', 'Dinner', 'Shall we have dinner on Friday? I would book a table.', 'INBOX'),
    ('00000003-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'office@gym.example', 'Membership', 'The fee of the gym is 45.00 a month.', 'INBOX'),
    ('00000003-0000-4000-8000-000000000003', '00000001-0000-4000-8000-000000000001', 'news@shop.example', 'Offers', 'New shoes are in.', 'INBOX');
INSERT INTO paper (paper_id, home, name, text) VALUES
    ('00000004-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'Plumber invoice', NULL),
    ('00000004-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'Lease', NULL);
INSERT INTO appointment (appointment_id, home, title, day) VALUES
    ('00000005-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'Dentist', '2025-01-09'),
    ('00000005-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'Choir', '2025-01-14');
INSERT INTO verbatim_principal (name, label) VALUES ('eva', 'Eva');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('eva', 'owner', 'home', '00000001-0000-4000-8000-000000000001');
