-- A bank of 10 000 clients and 100 000 requests, in the tables that
-- `verbatim migrate` makes on PostgreSQL where the palettes say `managed`. What
-- reading and answering cost at this size is measured on it. Row n of the
-- requests is of client n / 10.
INSERT INTO "ob-poc".cbus (cbu_id, name)
    SELECT ('0000000c-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'Client ' || i FROM generate_series(0, 9999) i;
INSERT INTO "ob-poc".entities (entity_id, cbu_id, name, entity_type, roles)
    SELECT ('0000000e-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('0000000c-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'Pierre Dupont ' || i, 'PERSON', '["INVESTOR"]' FROM generate_series(0, 9999) i;
INSERT INTO kyc.cases (case_id, cbu_id, current_stage, analyst, relationship_manager)
    SELECT ('0000ca5e-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('0000000c-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'DOCUMENTS', 't.weber', 's.keller' FROM generate_series(0, 9999) i;
INSERT INTO kyc.entity_workstreams (workstream_id, case_id, entity_id)
    SELECT ('00000003-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('0000ca5e-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('0000000e-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid FROM generate_series(0, 9999) i;
INSERT INTO kyc.outstanding_requests (request_id, workstream_id, request_type, request_subtype, reason_for_request, compliance_context, acceptable_document_types, status, due_date, client_visible, needs_review, created_at, updated_at)
    SELECT ('000004e9-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('00000003-0000-4000-8000-' || lpad(to_hex(i / 10), 12, '0'))::uuid, 'DOCUMENT', 'SOURCE_OF_WEALTH',
           'Pierre is investing EUR ' || i || ' million, so the bank has to see how his wealth was built up over the years.', 'FCA SYSC 6.1.1', '["TAX_RETURN","AUDITED_ACCOUNTS"]', 'PENDING',
           date '2025-01-01' + i % 90, true, true, timestamptz '2024-12-02 09:00:00Z' + i * interval '1 second', timestamptz '2024-12-02 09:00:00Z' FROM generate_series(0, 99999) i;
INSERT INTO kyc.request_parts (part_id, request_id, name, received_on, added_at)
    SELECT ('0000009a-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('000004e9-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'Tax return of ' || 2000 + i % 25,
           CASE WHEN i % 2 = 0 THEN date '2024-12-12' END, timestamptz '2024-12-02 09:00:00Z' FROM generate_series(0, 99999) i;
INSERT INTO kyc.case_steps (step_id, case_id, stage, name, request_id, done, weight)
    SELECT ('000057e9-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, ('0000ca5e-0000-4000-8000-' || lpad(to_hex(i / 10), 12, '0'))::uuid, 'DOCUMENTS', 'Tax returns', ('000004e9-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, false, 1 FROM generate_series(0, 99999) i;
