-- Who may use the example, and whose rows they hold: a counter and a foreman in Leeds,
-- and two bookkeepers, who see all depots. Depot 1 is a whole number, and says so.
INSERT INTO verbatim_principal (name, label) VALUES
    ('holly', 'Holly Ward'), ('frank', 'Frank Osei'), ('bea', 'Bea Lindqvist'), ('boris', 'Boris Petrov');
INSERT INTO verbatim_grant (principal, role, entity, key, kind) VALUES
    ('holly', 'counter', 'depot', '1', 'integer'),
    ('frank', 'foreman', 'depot', '1', 'integer'),
    ('bea', 'bookkeeper', '', '', ''),
    ('boris', 'bookkeeper', '', '', '');
