-- The bank's own database on PostgreSQL: table by table, column by column and row by
-- row it is bank.sql, with PostgreSQL's types. Run it as the role that is to own the
-- tables; what runs use is another, verbatim_app, which owns nothing.
CREATE SCHEMA "ob-poc";
CREATE SCHEMA kyc;

CREATE TABLE "ob-poc".cbus (
    cbu_id uuid PRIMARY KEY,
    name   text NOT NULL
);
CREATE TABLE "ob-poc".entities (
    entity_id   uuid PRIMARY KEY,
    cbu_id      uuid NOT NULL REFERENCES "ob-poc".cbus,
    name        text NOT NULL,
    entity_type text NOT NULL,
    roles       jsonb,
    ownership   numeric(5, 2)
);
CREATE INDEX entities_cbu ON "ob-poc".entities (cbu_id);
CREATE TABLE kyc.cases (
    case_id              uuid PRIMARY KEY,
    cbu_id               uuid NOT NULL REFERENCES "ob-poc".cbus,
    current_stage        text NOT NULL,
    analyst              text,
    relationship_manager text
);
CREATE INDEX cases_cbu ON kyc.cases (cbu_id);
CREATE TABLE kyc.entity_workstreams (
    workstream_id uuid PRIMARY KEY,
    case_id       uuid NOT NULL REFERENCES kyc.cases,
    entity_id     uuid NOT NULL REFERENCES "ob-poc".entities
);
CREATE INDEX workstreams_case ON kyc.entity_workstreams (case_id);
CREATE INDEX workstreams_entity ON kyc.entity_workstreams (entity_id);
CREATE TABLE kyc.outstanding_requests (
    request_id                uuid PRIMARY KEY,
    workstream_id             uuid NOT NULL REFERENCES kyc.entity_workstreams,
    request_type              text NOT NULL,
    request_subtype           text NOT NULL,
    reason_for_request        text,
    compliance_context        text,
    acceptable_document_types jsonb,
    status                    text NOT NULL DEFAULT 'PENDING',
    due_date                  date,
    client_visible            boolean NOT NULL DEFAULT true,
    client_notes              text,
    expected_date             date,
    needs_review              boolean NOT NULL DEFAULT true,
    review_hours              bigint,
    minutes                   bigint,
    review_note               text,
    created_at                timestamptz NOT NULL,
    updated_at                timestamptz NOT NULL
);
CREATE INDEX requests_workstream ON kyc.outstanding_requests (workstream_id);
CREATE TABLE kyc.case_steps (
    step_id    uuid PRIMARY KEY,
    case_id    uuid NOT NULL REFERENCES kyc.cases,
    stage      text NOT NULL,
    name       text NOT NULL,
    request_id uuid REFERENCES kyc.outstanding_requests,
    done       boolean NOT NULL,
    weight     bigint NOT NULL DEFAULT 1
);
CREATE INDEX steps_case ON kyc.case_steps (case_id);
CREATE INDEX steps_request ON kyc.case_steps (request_id);
CREATE TABLE kyc.request_submissions (
    submission_id  uuid PRIMARY KEY,
    request_id     uuid NOT NULL REFERENCES kyc.outstanding_requests,
    document_type  text NOT NULL,
    file_reference text NOT NULL,
    content        text,
    notes          text,
    submitted_at   timestamptz NOT NULL,
    verdict        text NOT NULL DEFAULT 'RECEIVED',
    UNIQUE (request_id, file_reference)
);
CREATE TABLE kyc.request_parts (
    part_id     uuid PRIMARY KEY,
    request_id  uuid NOT NULL REFERENCES kyc.outstanding_requests,
    name        text NOT NULL,
    received_on date,
    added_at    timestamptz NOT NULL
);
CREATE INDEX parts_request ON kyc.request_parts (request_id);
CREATE TABLE kyc.request_guidance (
    guidance_id uuid PRIMARY KEY,
    request_id  uuid NOT NULL REFERENCES kyc.outstanding_requests,
    kind        text NOT NULL,
    position    bigint NOT NULL,
    title       text NOT NULL,
    text        text NOT NULL
);
CREATE INDEX guidance_request ON kyc.request_guidance (request_id);

GRANT USAGE ON SCHEMA "ob-poc", kyc TO verbatim_app;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA "ob-poc", kyc TO verbatim_app;

INSERT INTO "ob-poc".cbus VALUES
    ('0000000c-0000-4000-8000-000000000001', 'Allianz Reinsurance AG'),
    ('0000000c-0000-4000-8000-000000000002', 'Nordlicht Infrastructure Fund SICAV'),
    ('0000000c-0000-4000-8000-000000000003', 'Kestrel Growth Partners LP');

INSERT INTO "ob-poc".entities VALUES
    ('0000000e-0000-4000-8000-000000000001', '0000000c-0000-4000-8000-000000000001', 'Pierre Dupont', 'PERSON', '["INVESTOR","BENEFICIAL_OWNER"]', '40.00'),
    ('0000000e-0000-4000-8000-000000000002', '0000000c-0000-4000-8000-000000000001', 'Thomas Müller', 'PERSON', '["DIRECTOR","SIGNIFICANT_CONTROL"]', NULL),
    ('0000000e-0000-4000-8000-000000000003', '0000000c-0000-4000-8000-000000000001', 'Maria Schmidt', 'PERSON', '["BENEFICIAL_OWNER"]', '30.00'),
    ('0000000e-0000-4000-8000-000000000004', '0000000c-0000-4000-8000-000000000001', 'Clara Weiss', 'PERSON', '["AUTHORISED_SIGNATORY"]', NULL),
    ('0000000e-0000-4000-8000-000000000005', '0000000c-0000-4000-8000-000000000001', 'Allianz Reinsurance AG', 'COMPANY', '["PRINCIPAL"]', NULL),
    ('0000000e-0000-4000-8000-000000000006', '0000000c-0000-4000-8000-000000000002', 'Ingrid Halvorsen', 'PERSON', '["DIRECTOR"]', NULL),
    ('0000000e-0000-4000-8000-000000000007', '0000000c-0000-4000-8000-000000000002', 'Jonas Lindqvist', 'PERSON', '["BENEFICIAL_OWNER"]', '55.00'),
    ('0000000e-0000-4000-8000-000000000008', '0000000c-0000-4000-8000-000000000002', 'Astrid Berg', 'PERSON', '["AUTHORISED_SIGNATORY"]', NULL),
    ('0000000e-0000-4000-8000-000000000009', '0000000c-0000-4000-8000-000000000002', 'Nordlicht Infrastructure Fund SICAV', 'FUND', '["PRINCIPAL"]', NULL),
    ('0000000e-0000-4000-8000-00000000000a', '0000000c-0000-4000-8000-000000000003', 'James Okafor', 'PERSON', '["GENERAL_PARTNER"]', '26.50'),
    ('0000000e-0000-4000-8000-00000000000b', '0000000c-0000-4000-8000-000000000003', 'Priya Raman', 'PERSON', '["LIMITED_PARTNER"]', '12.00'),
    ('0000000e-0000-4000-8000-00000000000c', '0000000c-0000-4000-8000-000000000003', 'Helen Marsh', 'PERSON', '["DIRECTOR"]', NULL),
    ('0000000e-0000-4000-8000-00000000000d', '0000000c-0000-4000-8000-000000000003', 'Daniel Cole', 'PERSON', '["AUTHORISED_SIGNATORY"]', NULL),
    ('0000000e-0000-4000-8000-00000000000e', '0000000c-0000-4000-8000-000000000003', 'Kestrel Growth Partners LP', 'PARTNERSHIP', '["PRINCIPAL"]', NULL);

INSERT INTO kyc.cases VALUES
    ('0000ca5e-0000-4000-8000-000000000001', '0000000c-0000-4000-8000-000000000001', 'DOCUMENTS', 't.weber', 's.keller'),
    ('0000ca5e-0000-4000-8000-000000000002', '0000000c-0000-4000-8000-000000000002', 'VERIFICATION', 't.weber', 'm.roth'),
    ('0000ca5e-0000-4000-8000-000000000003', '0000000c-0000-4000-8000-000000000003', 'INTAKE', 'a.nowak', 's.keller');

INSERT INTO kyc.entity_workstreams VALUES
    ('00000003-0000-4000-8000-000000000001', '0000ca5e-0000-4000-8000-000000000001', '0000000e-0000-4000-8000-000000000001'),
    ('00000003-0000-4000-8000-000000000002', '0000ca5e-0000-4000-8000-000000000001', '0000000e-0000-4000-8000-000000000002'),
    ('00000003-0000-4000-8000-000000000003', '0000ca5e-0000-4000-8000-000000000001', '0000000e-0000-4000-8000-000000000003'),
    ('00000003-0000-4000-8000-000000000004', '0000ca5e-0000-4000-8000-000000000001', '0000000e-0000-4000-8000-000000000004'),
    ('00000003-0000-4000-8000-000000000005', '0000ca5e-0000-4000-8000-000000000001', '0000000e-0000-4000-8000-000000000005'),
    ('00000003-0000-4000-8000-000000000006', '0000ca5e-0000-4000-8000-000000000002', '0000000e-0000-4000-8000-000000000006'),
    ('00000003-0000-4000-8000-000000000007', '0000ca5e-0000-4000-8000-000000000002', '0000000e-0000-4000-8000-000000000007'),
    ('00000003-0000-4000-8000-000000000008', '0000ca5e-0000-4000-8000-000000000002', '0000000e-0000-4000-8000-000000000008'),
    ('00000003-0000-4000-8000-000000000009', '0000ca5e-0000-4000-8000-000000000002', '0000000e-0000-4000-8000-000000000009'),
    ('00000003-0000-4000-8000-00000000000a', '0000ca5e-0000-4000-8000-000000000003', '0000000e-0000-4000-8000-00000000000a'),
    ('00000003-0000-4000-8000-00000000000b', '0000ca5e-0000-4000-8000-000000000003', '0000000e-0000-4000-8000-00000000000b'),
    ('00000003-0000-4000-8000-00000000000c', '0000ca5e-0000-4000-8000-000000000003', '0000000e-0000-4000-8000-00000000000c'),
    ('00000003-0000-4000-8000-00000000000d', '0000ca5e-0000-4000-8000-000000000003', '0000000e-0000-4000-8000-00000000000d'),
    ('00000003-0000-4000-8000-00000000000e', '0000ca5e-0000-4000-8000-000000000003', '0000000e-0000-4000-8000-00000000000e');

INSERT INTO kyc.outstanding_requests
    (request_id, workstream_id, request_type, request_subtype, reason_for_request, compliance_context,
     acceptable_document_types, status, due_date, client_visible, needs_review, review_hours, minutes, created_at, updated_at) VALUES
    ('000004e9-0000-4000-8000-000000000001', '00000003-0000-4000-8000-000000000001', 'DOCUMENT', 'SOURCE_OF_WEALTH', 'Pierre is investing EUR 50 million, so the bank has to see how his wealth was built up over the years, not only where this payment comes from.', 'FCA SYSC 6.1.1', '["TAX_RETURN","AUDITED_ACCOUNTS","ADVISOR_LETTER"]', 'PARTIALLY_FULFILLED', '2025-01-15', TRUE, TRUE, NULL, NULL, '2024-12-02T09:00:00Z', '2024-12-02T09:00:00Z'),
    ('000004e9-0000-4000-8000-000000000002', '00000003-0000-4000-8000-000000000002', 'DOCUMENT', 'IDENTITY', 'Thomas has significant control, and the identity of everybody who has must be verified.', 'UK Money Laundering Regulations 2017', '["PASSPORT","NATIONAL_ID"]', 'PENDING', '2025-01-10', TRUE, TRUE, 24, 5, '2024-12-02T09:05:00Z', '2024-12-02T09:05:00Z'),
    ('000004e9-0000-4000-8000-000000000003', '00000003-0000-4000-8000-000000000003', 'INFORMATION', 'DATE_OF_BIRTH', 'The register of people with significant control asks for it.', 'Companies Act 2006, part 21A', NULL, 'PENDING', NULL, TRUE, FALSE, NULL, 1, '2024-12-02T09:10:00Z', '2024-12-02T09:10:00Z'),
    ('000004e9-0000-4000-8000-000000000004', '00000003-0000-4000-8000-000000000004', 'DOCUMENT', 'IDENTITY', 'Clara signs for the company.', 'UK Money Laundering Regulations 2017', '["PASSPORT","NATIONAL_ID"]', 'FULFILLED', '2024-12-10', TRUE, TRUE, 24, 5, '2024-11-20T08:00:00Z', '2024-11-20T08:00:00Z'),
    ('000004e9-0000-4000-8000-000000000005', '00000003-0000-4000-8000-000000000005', 'VERIFICATION', 'ADDRESS', 'Internal check of the registered address.', 'Internal procedure 4.2', NULL, 'PENDING', '2025-01-05', FALSE, TRUE, NULL, NULL, '2024-12-03T08:00:00Z', '2024-12-03T08:00:00Z'),
    ('000004e9-0000-4000-8000-000000000006', '00000003-0000-4000-8000-000000000007', 'DOCUMENT', 'SOURCE_OF_WEALTH', 'Jonas holds more than half of the shares.', 'FCA SYSC 6.1.1', '["TAX_RETURN","AUDITED_ACCOUNTS"]', 'PENDING', '2025-01-20', TRUE, TRUE, NULL, NULL, '2024-12-04T08:00:00Z', '2024-12-04T08:00:00Z'),
    ('000004e9-0000-4000-8000-000000000007', '00000003-0000-4000-8000-00000000000a', 'INFORMATION', 'TAX_RESIDENCE', 'The tax residence of the general partner is needed for CRS reporting.', 'OECD Common Reporting Standard', NULL, 'PENDING', '2025-01-31', TRUE, TRUE, NULL, 5, '2024-12-05T08:00:00Z', '2024-12-05T08:00:00Z');

INSERT INTO kyc.request_parts VALUES
    ('0000009a-0000-4000-8000-000000000001', '000004e9-0000-4000-8000-000000000001', 'Bank statements', '2024-12-12', '2024-12-02T09:00:00Z'),
    ('0000009a-0000-4000-8000-000000000002', '000004e9-0000-4000-8000-000000000001', 'Tax return 2021', NULL, '2024-12-02T09:00:01Z'),
    ('0000009a-0000-4000-8000-000000000003', '000004e9-0000-4000-8000-000000000001', 'Tax return 2022', NULL, '2024-12-02T09:00:02Z'),
    ('0000009a-0000-4000-8000-000000000004', '000004e9-0000-4000-8000-000000000001', 'Tax return 2023', NULL, '2024-12-02T09:00:03Z');

INSERT INTO kyc.request_guidance VALUES
    ('0000006d-0000-4000-8000-000000000001', '000004e9-0000-4000-8000-000000000001', 'RULE', 1, 'FCA SYSC 6.1.1', 'The bank must have procedures that keep it from being used for financial crime; for a large investment they ask how the wealth came about, not only where this money was last.'),
    ('0000006d-0000-4000-8000-000000000002', '000004e9-0000-4000-8000-000000000001', 'RULE', 2, 'UK Money Laundering Regulations 2017, regulation 35', 'The source of wealth of some customers, and of those behind them, is to be established.'),
    ('0000006d-0000-4000-8000-000000000003', '000004e9-0000-4000-8000-000000000001', 'QUESTION', 1, 'Which years?', '2021, 2022 and 2023.'),
    ('0000006d-0000-4000-8000-000000000004', '000004e9-0000-4000-8000-000000000001', 'QUESTION', 2, 'What if the return for a year is not filed yet?', 'A letter from the tax adviser with the figures will do for that year.'),
    ('0000006d-0000-4000-8000-000000000005', '000004e9-0000-4000-8000-000000000002', 'RULE', 1, 'UK Money Laundering Regulations 2017, regulation 28', 'Who has significant control is to be identified, and their identity verified.'),
    ('0000006d-0000-4000-8000-000000000006', '000004e9-0000-4000-8000-000000000002', 'QUESTION', 1, 'Passport or identity card?', 'Either. A passport is quicker to check.'),
    ('0000006d-0000-4000-8000-000000000007', '000004e9-0000-4000-8000-000000000002', 'QUESTION', 2, 'Is a photograph enough?', 'Yes, of the whole page, with nothing cut off.'),
    ('0000006d-0000-4000-8000-000000000008', '000004e9-0000-4000-8000-000000000003', 'RULE', 1, 'Companies Act 2006, part 21A', 'The register of people with significant control holds their dates of birth.');

INSERT INTO kyc.request_submissions (submission_id, request_id, document_type, file_reference, notes, submitted_at, verdict) VALUES
    ('0000005b-0000-4000-8000-000000000001', '000004e9-0000-4000-8000-000000000001', 'BANK_STATEMENT', 'upload://st-2024-12-12', NULL, '2024-12-12T14:30:00Z', 'ACCEPTED'),
    ('0000005b-0000-4000-8000-000000000002', '000004e9-0000-4000-8000-000000000004', 'PASSPORT', 'upload://cw-passport', NULL, '2024-12-05T10:12:00Z', 'ACCEPTED');

INSERT INTO kyc.case_steps (step_id, case_id, stage, name, request_id, done) VALUES
    ('000057e9-0000-4000-8000-000000000001', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Application received', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000002', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Client contact named', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000003', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Fund structure received', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000004', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Products chosen', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000005', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Jurisdictions confirmed', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000006', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Ownership chart received', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000007', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Directors listed', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000008', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Beneficial owners listed', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000009', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Certificate of incorporation', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000000a', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Articles of association', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000000b', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Register of directors', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000000c', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Register of members', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000000d', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Audited accounts', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000000e', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Signatory list', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000000f', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Board resolution', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000010', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Identity of Clara Weiss', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000011', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Proof of registered address', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000012', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Tax residence of the company', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000013', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'FATCA self-certification', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000014', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'CRS self-certification', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000015', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Sanctions screening', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000016', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Adverse media screening', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000017', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Company registry check', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000018', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Directors verified', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000019', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Politically exposed persons check', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000001a', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Bank reference', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000001b', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Terms acknowledged', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000001c', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Tax returns of Pierre Dupont', '000004e9-0000-4000-8000-000000000001', FALSE),
    ('000057e9-0000-4000-8000-00000000001d', '0000ca5e-0000-4000-8000-000000000001', 'VERIFICATION', 'Source of wealth of Pierre Dupont explained', '000004e9-0000-4000-8000-000000000001', FALSE),
    ('000057e9-0000-4000-8000-00000000001e', '0000ca5e-0000-4000-8000-000000000001', 'DOCUMENTS', 'Identity of Thomas Müller', '000004e9-0000-4000-8000-000000000002', FALSE),
    ('000057e9-0000-4000-8000-00000000001f', '0000ca5e-0000-4000-8000-000000000001', 'INTAKE', 'Date of birth of Maria Schmidt', '000004e9-0000-4000-8000-000000000003', FALSE),
    ('000057e9-0000-4000-8000-000000000020', '0000ca5e-0000-4000-8000-000000000002', 'INTAKE', 'Step 1', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000021', '0000ca5e-0000-4000-8000-000000000002', 'INTAKE', 'Step 2', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000022', '0000ca5e-0000-4000-8000-000000000002', 'INTAKE', 'Step 3', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000023', '0000ca5e-0000-4000-8000-000000000002', 'INTAKE', 'Step 4', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000024', '0000ca5e-0000-4000-8000-000000000002', 'DOCUMENTS', 'Step 5', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000025', '0000ca5e-0000-4000-8000-000000000002', 'DOCUMENTS', 'Step 6', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000026', '0000ca5e-0000-4000-8000-000000000002', 'DOCUMENTS', 'Step 7', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000027', '0000ca5e-0000-4000-8000-000000000002', 'DOCUMENTS', 'Step 8', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000028', '0000ca5e-0000-4000-8000-000000000002', 'VERIFICATION', 'Step 9', NULL, TRUE),
    ('000057e9-0000-4000-8000-000000000029', '0000ca5e-0000-4000-8000-000000000002', 'VERIFICATION', 'Step 10', NULL, FALSE),
    ('000057e9-0000-4000-8000-00000000002a', '0000ca5e-0000-4000-8000-000000000002', 'VERIFICATION', 'Step 11', NULL, FALSE),
    ('000057e9-0000-4000-8000-00000000002b', '0000ca5e-0000-4000-8000-000000000002', 'VERIFICATION', 'Step 12', NULL, FALSE),
    ('000057e9-0000-4000-8000-00000000002c', '0000ca5e-0000-4000-8000-000000000003', 'INTAKE', 'Step 1', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000002d', '0000ca5e-0000-4000-8000-000000000003', 'INTAKE', 'Step 2', NULL, TRUE),
    ('000057e9-0000-4000-8000-00000000002e', '0000ca5e-0000-4000-8000-000000000003', 'INTAKE', 'Step 3', NULL, FALSE),
    ('000057e9-0000-4000-8000-00000000002f', '0000ca5e-0000-4000-8000-000000000003', 'INTAKE', 'Step 4', NULL, FALSE),
    ('000057e9-0000-4000-8000-000000000030', '0000ca5e-0000-4000-8000-000000000003', 'DOCUMENTS', 'Step 5', NULL, FALSE),
    ('000057e9-0000-4000-8000-000000000031', '0000ca5e-0000-4000-8000-000000000003', 'DOCUMENTS', 'Step 6', NULL, FALSE),
    ('000057e9-0000-4000-8000-000000000032', '0000ca5e-0000-4000-8000-000000000003', 'DOCUMENTS', 'Step 7', NULL, FALSE),
    ('000057e9-0000-4000-8000-000000000033', '0000ca5e-0000-4000-8000-000000000003', 'DOCUMENTS', 'Step 8', NULL, FALSE),
    ('000057e9-0000-4000-8000-000000000034', '0000ca5e-0000-4000-8000-000000000003', 'VERIFICATION', 'Step 9', NULL, FALSE),
    ('000057e9-0000-4000-8000-000000000035', '0000ca5e-0000-4000-8000-000000000003', 'VERIFICATION', 'Step 10', NULL, FALSE);
