-- The shops' own database, as it was long before Verbatim: the script that made
-- it, for PostgreSQL. Table by table and column by column it is schema.sql, with
-- PostgreSQL's types. The same data goes into both:
--
--     sed 's/retail_/retail./' data.sql | psql
--
CREATE SCHEMA retail;

CREATE TABLE retail.shops (
    shop_id  uuid PRIMARY KEY,
    name     text NOT NULL,
    currency text NOT NULL
);

CREATE TABLE retail.customers (
    customer_id uuid PRIMARY KEY,
    shop_id     uuid NOT NULL REFERENCES retail.shops,
    name        text NOT NULL,
    email       text,
    blocked     boolean NOT NULL DEFAULT false
);
CREATE INDEX customers_shop ON retail.customers (shop_id);

CREATE TABLE retail.addresses (
    address_id  uuid PRIMARY KEY,
    customer_id uuid NOT NULL REFERENCES retail.customers,
    street      text NOT NULL,
    postcode    text NOT NULL,
    city        text NOT NULL,
    changed_at  timestamptz
);
CREATE INDEX addresses_customer ON retail.addresses (customer_id);

CREATE TABLE retail.products (
    product_id   uuid PRIMARY KEY,
    shop_id      uuid NOT NULL REFERENCES retail.shops,
    sku          text NOT NULL,
    name         text NOT NULL,
    price        numeric(12, 2) NOT NULL,
    stock        bigint NOT NULL,
    discontinued boolean NOT NULL DEFAULT false,
    UNIQUE (shop_id, sku)
);

CREATE TABLE retail.orders (
    order_id    uuid PRIMARY KEY,
    number      text NOT NULL UNIQUE,
    customer_id uuid NOT NULL REFERENCES retail.customers,
    address_id  uuid NOT NULL REFERENCES retail.addresses,
    status      text NOT NULL DEFAULT 'OPEN',
    tracking    text,
    opened_at   timestamptz NOT NULL,
    shipped_at  timestamptz
);
CREATE INDEX orders_customer ON retail.orders (customer_id);
CREATE INDEX orders_address ON retail.orders (address_id);

CREATE TABLE retail.order_items (
    item_id    uuid PRIMARY KEY,
    order_id   uuid NOT NULL REFERENCES retail.orders,
    product_id uuid NOT NULL REFERENCES retail.products,
    quantity   bigint NOT NULL CHECK (quantity > 0),
    unit_price numeric(12, 2) NOT NULL,
    amount     numeric(12, 2) NOT NULL,
    status     text NOT NULL DEFAULT 'RESERVED'
);
CREATE INDEX order_items_order ON retail.order_items (order_id);
CREATE INDEX order_items_product ON retail.order_items (product_id);

CREATE TABLE retail.gift_cards (
    card_id uuid PRIMARY KEY,
    shop_id uuid NOT NULL REFERENCES retail.shops,
    number  text NOT NULL UNIQUE,
    worth   numeric(12, 2) NOT NULL,
    sold_at timestamptz NOT NULL
);
CREATE INDEX gift_cards_shop ON retail.gift_cards (shop_id);

CREATE TABLE retail.payments (
    payment_id   uuid PRIMARY KEY,
    order_id     uuid NOT NULL REFERENCES retail.orders,
    gift_card_id uuid REFERENCES retail.gift_cards,
    amount       numeric(12, 2) NOT NULL,
    method       text NOT NULL,
    paid_at      timestamptz NOT NULL
);
CREATE INDEX payments_order ON retail.payments (order_id);
CREATE INDEX payments_gift_card ON retail.payments (gift_card_id);

CREATE TABLE retail.refunds (
    refund_id    uuid PRIMARY KEY,
    order_id     uuid NOT NULL REFERENCES retail.orders,
    gift_card_id uuid REFERENCES retail.gift_cards,
    amount       numeric(12, 2) NOT NULL,
    reason       text NOT NULL,
    refunded_at  timestamptz NOT NULL
);
CREATE INDEX refunds_order ON retail.refunds (order_id);
CREATE INDEX refunds_gift_card ON retail.refunds (gift_card_id);
