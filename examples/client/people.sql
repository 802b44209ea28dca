-- Who may do what. Clara is at the client and holds one CBU; Jonas holds
-- another; Weber, Nowak, Keller and Lang are at the bank.
INSERT INTO verbatim_principal (name, label) VALUES
    ('clara', 'Clara Weiss'),
    ('jonas', 'Jonas Lindqvist'),
    ('t.weber', 'T. Weber'),
    ('a.nowak', 'A. Nowak'),
    ('s.keller', 'S. Keller'),
    ('d.lang', 'D. Lang');

INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
    ('clara', 'client', 'cbu', '0000000c-0000-4000-8000-000000000001'),
    ('jonas', 'client', 'cbu', '0000000c-0000-4000-8000-000000000002'),
    ('t.weber', 'analyst', '', ''),
    ('a.nowak', 'analyst', '', ''),
    ('s.keller', 'relationship-manager', '', ''),
    ('d.lang', 'privacy-officer', '', '');
