-- Who may use Verbatim in the demonstration, in its own tables: Clara holds one
-- CBU of the three, James another, and Lena reviews what clients send.

INSERT INTO verbatim_principal (name, label) VALUES
    ('clara', 'Clara Weiss, Allianz Reinsurance AG'),
    ('james', 'James Okafor, Kestrel Growth Partners LP'),
    ('lena', 'Lena Vogt, the bank');

INSERT INTO verbatim_grant (principal, role) VALUES
    ('clara', 'client'),
    ('james', 'client'),
    ('lena', 'analyst');

INSERT INTO verbatim_grant (principal, entity, "key") VALUES
    ('clara', 'cbu', '0000000c-0000-4000-8000-000000000001'),
    ('james', 'cbu', '0000000c-0000-4000-8000-000000000003');
