INSERT INTO team (team_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'Print shop');
INSERT INTO machine (machine_id, team, name, status) VALUES
    ('00000002-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'Press 1', 'RUNNING'),
    ('00000002-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'Press 2', 'RUNNING');
INSERT INTO verbatim_principal (name, label) VALUES ('ada', 'Ada Novak');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('ada', 'member', 'team', '00000001-0000-4000-8000-000000000001');
INSERT INTO verbatim_principal (name, label) VALUES ('kit', 'Kit Moss');
INSERT INTO verbatim_grant (principal, role) VALUES ('kit', 'journal-keeper');
