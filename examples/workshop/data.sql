-- A few days of two depots.
INSERT INTO fleet.depots (name, bays) VALUES ('Leeds', 3), ('Hull', 2);

INSERT INTO fleet.customers (home_depot, company, contact_email, approval_limit, since) VALUES
    (1, 'Aire Valley Couriers', 'fleet@airevalley.example', 800.00, '2019-03-01'),
    (1, 'Pudsey Bakers', 'van@pudseybakers.example', 300.00, '2022-11-15'),
    (2, 'Humber Coaches', NULL, 2500.00, '2016-06-20');

INSERT INTO fleet.vehicles (customer_id, "plateNo", kind, make, vin, odometer_km, next_check) VALUES
    (1, 'YK21 ABC', 'van', 'Ford Transit', 'WF0EXXTTRELA12345', 81200, '2025-01-20'),
    (1, 'YK68 LRY', 'truck', 'DAF LF', 'XLRAEL1500L456789', 240310, '2025-01-08'),
    (2, 'YJ19 BUN', 'van', 'Renault Master', NULL, 55040, '2025-03-02'),
    (3, 'YX70 BUS', 'bus', 'Volvo B8R', 'YV3T2U829LA234567', 410900, '2025-01-05'),
    (3, 'YX15 OLD', 'bus', 'Volvo B7R', NULL, 988000, NULL);

INSERT INTO fleet.mechanics (depot_id, full_name, hourly_rate, skills) VALUES
    (1, 'Priya Nair', 64.00, '{brakes,electrics}'),
    (1, 'Tom Birch', 52.50, '{tyres}'),
    (2, 'Ewa Lis', 61.00, '{engines,brakes}');

INSERT INTO fleet.jobs (depot_id, vehicle_id, bill_to, state, complaint, priority, odometer_km, approved, total, opened_at, finished_at, "user") VALUES
    (1, 1, 1, 'done', 'Brakes squeal', 2, 81150, NULL, 189.80, '2024-12-16 08:10+00', '2024-12-17 15:30+00', 'counter'),
    (1, 2, 1, 'done', 'Annual service', 3, 240310, 1900.00, 893.41, '2024-12-18 07:45+00', '2024-12-20 16:00+00', 'counter'),
    (1, 3, 2, 'in progress', 'Will not start in the cold', 1, 55040, NULL, NULL, '2024-12-23 09:20+00', NULL, 'counter'),
    (2, 4, 3, 'on hold', 'Heating fails', 2, 410900, NULL, NULL, '2024-12-19 10:05+00', NULL, 'counter'),
    (1, 1, 1, 'booked', 'Winter tyres', 3, NULL, NULL, NULL, '2024-12-24 11:00+00', NULL, 'counter');

INSERT INTO fleet.bay_days VALUES
    (1, 1, '2024-12-27', 5003), (2, 1, '2024-12-27', 5004), (1, 2, '2024-12-30', 5005);

INSERT INTO stock.parts (part_no, description, unit, price) VALUES
    ('BRK-0042', 'Brake pads, front, van', 'set', 46.90),
    ('BAT-0110', 'Battery 12 V 110 Ah', 'piece', 138.00),
    ('OIL-5W30', 'Engine oil 5W-30', 'litre', 7.45),
    ('TYR-2356', 'Winter tyre 235/65 R16', 'piece', 119.50);

INSERT INTO stock.shelf (depot_id, part_no, on_hand, minimum) VALUES
    (1, 'BRK-0042', 4, 2), (1, 'BAT-0110', 1, 2), (1, 'OIL-5W30', 180.50, 60), (1, 'TYR-2356', 8, 8),
    (2, 'BRK-0042', 0, 1), (2, 'BAT-0110', 3, 1), (2, 'OIL-5W30', 44.00, 60);

INSERT INTO stock.movements (depot_id, part_no, change, reason, job_no, at) VALUES
    (1, 'BRK-0042', 6, 'delivery', NULL, '2024-12-02 08:00+00'), (1, 'BRK-0042', -2, 'job', 5001, '2024-12-17 10:00+00'),
    (1, 'BAT-0110', 1, 'count', NULL, '2024-12-02 08:00+00'), (1, 'OIL-5W30', 200, 'delivery', NULL, '2024-12-02 08:00+00'),
    (1, 'OIL-5W30', -19.50, 'job', 5002, '2024-12-19 10:00+00'), (1, 'TYR-2356', 8, 'delivery', NULL, '2024-12-02 08:00+00'),
    (2, 'BAT-0110', 3, 'delivery', NULL, '2024-12-03 08:00+00'), (2, 'OIL-5W30', 44, 'delivery', NULL, '2024-12-03 08:00+00');

INSERT INTO fleet.job_lines (job_no, line_no, mechanic_id, part_no, what, quantity, unit_price) VALUES
    (5001, 1, 1, NULL, 'Replace front pads', 1.50, 64.00),
    (5001, 2, NULL, 'BRK-0042', 'Brake pads, front, van', 2, 46.90),
    (5002, 1, 2, NULL, 'Service and inspection', 14.25, 52.50),
    (5002, 2, NULL, 'OIL-5W30', 'Engine oil 5W-30', 19.50, 7.45),
    (5003, 1, 1, NULL, 'Find the fault', 0.75, 64.00),
    (5004, 1, 3, NULL, 'Find the fault', 2.00, 61.00);

INSERT INTO fleet.odometer_feed VALUES
    (1, 81200, '10.20.0.17', '2024-12-24 06:00+00'), (4, 410900, '2001:db8::4', '2024-12-19 10:00+00');

INSERT INTO billing."Invoice" ("CustomerId", "IssuedOn", "DueOn", "Net", "State") VALUES
    (3, '2024-11-04', '2024-12-04', 1250.00, 'sent'), (1, '2024-12-02', '2025-01-01', 410.35, 'paid'),
    (2, '2023-02-06', '2023-03-08', 80.00, 'disputed');

INSERT INTO billing."Payment" ("Id", "InvoiceNo", "Amount", "Iban", "ReceivedAt") VALUES
    ('00000001-0000-4000-8000-000000000001', 70002, 492.42, 'GB33BUKB20201555555555', '2024-12-20 12:00+00'),
    ('00000001-0000-4000-8000-000000000002', 70001, 500.00, NULL, '2024-12-11 12:00+00');
