-- For eval.yaml and eval-heldout.yaml: the people, and documents that were sent before.
INSERT INTO verbatim_principal (name, label) VALUES ('nadia', 'Nadia Achieng'), ('vik', 'Vik Rao'), ('ben', 'Ben Okoro'), ('omar', 'Omar Diallo'), ('ruth', 'Ruth Mwangi'), ('pia', 'Pia Lind'), ('jon', 'Jon Berg');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('nadia', 'member', 'organisation', '00000001-0000-4000-8000-000000000001'),
    ('ben', 'member', 'organisation', '00000001-0000-4000-8000-000000000001'),
    ('vik', 'viewer', 'organisation', '00000001-0000-4000-8000-000000000001'),
    ('omar', 'manager', 'organisation', '00000001-0000-4000-8000-000000000001'),
    ('ruth', 'manager', 'organisation', '00000001-0000-4000-8000-000000000001'),
    ('pia', 'member', 'organisation', '00000001-0000-4000-8000-000000000002'),
    ('jon', 'manager', 'organisation', '00000001-0000-4000-8000-000000000002');

INSERT INTO document (document_id, organisation, file, sum, name, class, status, filing, reason, named, named_at, uploaded, uploaded_by) VALUES
    ('00000009-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'upload://umza-grid-permit', 'sha-256 of the permit', 'UMZA grid permit.txt', 'PERMIT', 'PENDING', 'SUGGESTED', 'TEXT', 'UMZA-1', 'line 1', '2025-01-13T08:00:00.000000Z', 'nadia'),
    ('00000009-0000-4000-8000-000000000003', '00000001-0000-4000-8000-000000000001', 'upload://site-photo', 'sha-256 of the photo', 'Site photo.jpg', 'OTHER', 'PENDING', 'UNLINKED', NULL, NULL, NULL, '2025-01-14T08:00:00.000000Z', 'ben'),
    ('00000009-0000-4000-8000-000000000004', '00000001-0000-4000-8000-000000000001', 'upload://tana-insurance', 'sha-256 of the policy', 'TANA insurance.txt', 'INSURANCE', 'PENDING', 'LINKED', NULL, NULL, NULL, '2025-01-14T09:00:00.000000Z', 'ben'),
    ('00000009-0000-4000-8000-000000000005', '00000001-0000-4000-8000-000000000002', 'upload://arda-report', 'sha-256 of the report', 'Arda report.txt', 'REPORT', 'PENDING', 'LINKED', NULL, NULL, NULL, '2025-01-14T09:00:00.000000Z', 'pia');

INSERT INTO primary_link (primary_link_id, document, project, site, linked_by, confidence, linked_at) VALUES
    ('0000000a-0000-4000-8000-000000000001', '00000009-0000-4000-8000-000000000001', '00000003-0000-4000-8000-000000000001', NULL, 'AI_SUGGESTION', '0.9500', '2025-01-13T08:00:00.000000Z'),
    ('0000000a-0000-4000-8000-000000000003', '00000009-0000-4000-8000-000000000004', '00000003-0000-4000-8000-000000000002', NULL, 'USER_CONFIRMED', NULL, '2025-01-14T09:00:00.000000Z'),
    ('0000000a-0000-4000-8000-000000000004', '00000009-0000-4000-8000-000000000005', '00000003-0000-4000-8000-000000000003', NULL, 'USER_CONFIRMED', NULL, '2025-01-14T09:00:00.000000Z');

INSERT INTO passage (passage_id, document, number, place, page, text) VALUES
    ('0000000b-0000-4000-8000-000000000001', '00000009-0000-4000-8000-000000000001', 1, 'line 1', NULL, 'Grid connection permit for UMZA-1. Capacity: 50 MW.'),
    ('0000000b-0000-4000-8000-000000000002', '00000009-0000-4000-8000-000000000002', 1, 'p.1', 1, 'Land lease for Kwale North. The lessee pays for decommissioning at the end of the term.'),
    ('0000000b-0000-4000-8000-000000000003', '00000009-0000-4000-8000-000000000002', 2, 'p.4', 4, 'A notice of termination is given six months before.'),
    ('0000000b-0000-4000-8000-000000000004', '00000009-0000-4000-8000-000000000004', 1, 'p.1', 1, 'Certificate of insurance (seguros) for the wind farm TANA-2.'),
    ('0000000b-0000-4000-8000-000000000005', '00000009-0000-4000-8000-000000000005', 1, 'p.1', 1, 'ARDA-1 digestate report on decommissioning.');

INSERT INTO extracted_field (extracted_field_id, document, number, name, value, place, text) VALUES
    ('0000000c-0000-4000-8000-000000000001', '00000009-0000-4000-8000-000000000002', 1, 'EXPIRY', '31 December 2049', 'p.1', 'Valid until: 31 December 2049');

INSERT INTO share (share_id, room, "to", until, since, shared_by) VALUES
    ('0000000d-0000-4000-8000-000000000001', '00000008-0000-4000-8000-000000000001', 'analyst@lender.example', '2025-03-31', '2025-01-10T10:00:00.000000Z', 'omar');

INSERT INTO activity (activity_id, organisation, project, kind, day, by) VALUES
    ('0000000e-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', '00000003-0000-4000-8000-000000000001', 'ROOM_MADE', '2025-01-10', 'nadia'),
    ('0000000e-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', NULL, 'UPLOADED', '2025-01-13', 'nadia'),
    ('0000000e-0000-4000-8000-000000000003', '00000001-0000-4000-8000-000000000002', '00000003-0000-4000-8000-000000000003', 'ROOM_MADE', '2025-01-10', 'pia');
