-- The shops' own database, as it was long before Verbatim: the script that made
-- it, for SQLite. It is plain SQL; only the types and the names of the tables
-- differ from one database to the next. SQLite has no schemas, so retail.orders
-- is spelt retail_orders, and keeps decimals, dates and uuids as text.

CREATE TABLE retail_shops (
    shop_id  TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    currency TEXT NOT NULL
);

CREATE TABLE retail_customers (
    customer_id TEXT PRIMARY KEY,
    shop_id     TEXT NOT NULL REFERENCES retail_shops,
    name        TEXT NOT NULL,
    email       TEXT,
    blocked     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX customers_shop ON retail_customers (shop_id);

CREATE TABLE retail_addresses (
    address_id  TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES retail_customers,
    street      TEXT NOT NULL,
    postcode    TEXT NOT NULL,
    city        TEXT NOT NULL,
    changed_at  TEXT
);
CREATE INDEX addresses_customer ON retail_addresses (customer_id);

CREATE TABLE retail_products (
    product_id   TEXT PRIMARY KEY,
    shop_id      TEXT NOT NULL REFERENCES retail_shops,
    sku          TEXT NOT NULL,
    name         TEXT NOT NULL,
    price        TEXT NOT NULL,
    stock        INTEGER NOT NULL,
    discontinued INTEGER NOT NULL DEFAULT 0,
    UNIQUE (shop_id, sku)
);

CREATE TABLE retail_orders (
    order_id    TEXT PRIMARY KEY,
    number      TEXT NOT NULL UNIQUE,
    customer_id TEXT NOT NULL REFERENCES retail_customers,
    address_id  TEXT NOT NULL REFERENCES retail_addresses,
    status      TEXT NOT NULL DEFAULT 'OPEN',
    tracking    TEXT,
    opened_at   TEXT NOT NULL,
    shipped_at  TEXT
);
CREATE INDEX orders_customer ON retail_orders (customer_id);
CREATE INDEX orders_address ON retail_orders (address_id);

CREATE TABLE retail_order_items (
    item_id    TEXT PRIMARY KEY,
    order_id   TEXT NOT NULL REFERENCES retail_orders,
    product_id TEXT NOT NULL REFERENCES retail_products,
    quantity   INTEGER NOT NULL CHECK (quantity > 0),
    unit_price TEXT NOT NULL,
    amount     TEXT NOT NULL,
    status     TEXT NOT NULL DEFAULT 'RESERVED'
);
CREATE INDEX order_items_order ON retail_order_items (order_id);
CREATE INDEX order_items_product ON retail_order_items (product_id);

CREATE TABLE retail_gift_cards (
    card_id TEXT PRIMARY KEY,
    shop_id TEXT NOT NULL REFERENCES retail_shops,
    number  TEXT NOT NULL UNIQUE,
    worth   TEXT NOT NULL,
    sold_at TEXT NOT NULL
);
CREATE INDEX gift_cards_shop ON retail_gift_cards (shop_id);

CREATE TABLE retail_payments (
    payment_id   TEXT PRIMARY KEY,
    order_id     TEXT NOT NULL REFERENCES retail_orders,
    gift_card_id TEXT REFERENCES retail_gift_cards,
    amount       TEXT NOT NULL,
    method       TEXT NOT NULL,
    paid_at      TEXT NOT NULL
);
CREATE INDEX payments_order ON retail_payments (order_id);
CREATE INDEX payments_gift_card ON retail_payments (gift_card_id);

CREATE TABLE retail_refunds (
    refund_id    TEXT PRIMARY KEY,
    order_id     TEXT NOT NULL REFERENCES retail_orders,
    gift_card_id TEXT REFERENCES retail_gift_cards,
    amount       TEXT NOT NULL,
    reason       TEXT NOT NULL,
    refunded_at  TEXT NOT NULL
);
CREATE INDEX refunds_order ON retail_refunds (order_id);
CREATE INDEX refunds_gift_card ON retail_refunds (gift_card_id);
