SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA system;
ALTER SCHEMA system OWNER TO verbatim_owner;
CREATE SCHEMA verbatim;
ALTER SCHEMA verbatim OWNER TO verbatim_owner;
CREATE SCHEMA verbatim_river;
ALTER SCHEMA verbatim_river OWNER TO verbatim_owner;
CREATE TYPE verbatim_river.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);
ALTER TYPE verbatim_river.river_job_state OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_append_only() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN RAISE EXCEPTION 'the journal is append-only'; END$$;
ALTER FUNCTION public.verbatim_append_only() OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_root_2381606604f1() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN NEW.verbatim_root := (SELECT p."principal" FROM "verbatim"."sessions" p WHERE p."key" = NEW."session"); RETURN NEW; END$$;
ALTER FUNCTION public.verbatim_root_2381606604f1() OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_root_40e99ed916d4() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN NEW.verbatim_root := (SELECT p."realm" FROM "system"."principals" p WHERE p."principal_id" = NEW."principal"); RETURN NEW; END$$;
ALTER FUNCTION public.verbatim_root_40e99ed916d4() OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_root_46d2df445b7e() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN NEW.verbatim_root := (SELECT p."realm" FROM "system"."principals" p WHERE p."principal_id" = NEW."principal"); RETURN NEW; END$$;
ALTER FUNCTION public.verbatim_root_46d2df445b7e() OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_root_67cfe6c06099() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN NEW.verbatim_root := (SELECT p."realm" FROM "system"."principals" p WHERE p."principal_id" = NEW."principal"); RETURN NEW; END$$;
ALTER FUNCTION public.verbatim_root_67cfe6c06099() OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_root_a8597635704f() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN NEW.verbatim_root := (SELECT p."realm" FROM "system"."principals" p WHERE p."principal_id" = NEW."principal"); RETURN NEW; END$$;
ALTER FUNCTION public.verbatim_root_a8597635704f() OWNER TO verbatim_owner;
CREATE FUNCTION public.verbatim_root_aa89292e8b80() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog'
    AS $$BEGIN NEW.verbatim_root := (SELECT p."principal" FROM "verbatim"."sessions" p WHERE p."key" = NEW."session"); RETURN NEW; END$$;
ALTER FUNCTION public.verbatim_root_aa89292e8b80() OWNER TO verbatim_owner;
CREATE FUNCTION verbatim_river.river_job_state_in_bitmask(bitmask bit, state verbatim_river.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;
ALTER FUNCTION verbatim_river.river_job_state_in_bitmask(bitmask bit, state verbatim_river.river_job_state) OWNER TO verbatim_owner;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.box (
    box_id uuid NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.box FORCE ROW LEVEL SECURITY;
ALTER TABLE public.box OWNER TO verbatim_owner;
CREATE TABLE public.item (
    item_id uuid NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    box uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    colour text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.item FORCE ROW LEVEL SECURITY;
ALTER TABLE public.item OWNER TO verbatim_owner;
CREATE TABLE public.verbatim_grant (
    principal text NOT NULL COLLATE pg_catalog."C",
    role text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    entity text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    key text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    kind text DEFAULT ''::text NOT NULL,
    CONSTRAINT verbatim_grant_kind_check CHECK ((kind = ANY (ARRAY[''::text, 'integer'::text])))
);
ALTER TABLE public.verbatim_grant OWNER TO verbatim_owner;
CREATE TABLE public.verbatim_journal (
    seq bigint NOT NULL,
    "time" timestamp with time zone NOT NULL,
    principal text NOT NULL,
    roles json NOT NULL,
    session text NOT NULL,
    source text NOT NULL,
    verb text NOT NULL,
    call text NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    changes text NOT NULL,
    preview text NOT NULL,
    agreed text NOT NULL,
    palette text NOT NULL,
    turn text NOT NULL,
    origins text NOT NULL,
    prev bytea NOT NULL,
    body bytea NOT NULL,
    hash bytea NOT NULL
);
ALTER TABLE public.verbatim_journal OWNER TO verbatim_owner;
CREATE TABLE public.verbatim_name (
    table_name text NOT NULL COLLATE pg_catalog."C",
    plain text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    row_key text NOT NULL COLLATE pg_catalog."C",
    suffix text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.verbatim_name OWNER TO verbatim_owner;
CREATE TABLE public.verbatim_origin (
    table_name text NOT NULL COLLATE pg_catalog."C",
    row_key text NOT NULL COLLATE pg_catalog."C",
    column_name text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL
);
ALTER TABLE public.verbatim_origin OWNER TO verbatim_owner;
CREATE TABLE public.verbatim_principal (
    name text NOT NULL COLLATE pg_catalog."C",
    label text DEFAULT ''::text NOT NULL,
    person text DEFAULT ''::text NOT NULL
);
ALTER TABLE public.verbatim_principal OWNER TO verbatim_owner;
CREATE TABLE public.verbatim_schema (
    version bigint NOT NULL,
    store text NOT NULL,
    secret bytea NOT NULL
);
ALTER TABLE public.verbatim_schema OWNER TO verbatim_owner;
CREATE TABLE system.holds (
    hold_id uuid NOT NULL,
    principal uuid NOT NULL,
    entity text NOT NULL COLLATE pg_catalog."C",
    held text NOT NULL COLLATE pg_catalog."C",
    verbatim_root text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY system.holds FORCE ROW LEVEL SECURITY;
ALTER TABLE system.holds OWNER TO verbatim_owner;
CREATE TABLE system.identities (
    identity_id uuid NOT NULL,
    principal uuid NOT NULL,
    issuer text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    known_by text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    added_at timestamp with time zone,
    verified_at timestamp with time zone,
    verified_by text COLLATE pg_catalog."C",
    revoked_at timestamp with time zone,
    reason text COLLATE pg_catalog."C",
    heard_at timestamp with time zone,
    verbatim_root text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY system.identities FORCE ROW LEVEL SECURITY;
ALTER TABLE system.identities OWNER TO verbatim_owner;
CREATE TABLE system.principals (
    principal_id uuid NOT NULL,
    realm text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    label text COLLATE pg_catalog."C",
    person text COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    zone text COLLATE pg_catalog."C",
    language text COLLATE pg_catalog."C",
    added_at timestamp with time zone
);
ALTER TABLE ONLY system.principals FORCE ROW LEVEL SECURITY;
ALTER TABLE system.principals OWNER TO verbatim_owner;
CREATE TABLE system.realms (
    realm text NOT NULL COLLATE pg_catalog."C",
    changed timestamp with time zone
);
ALTER TABLE ONLY system.realms FORCE ROW LEVEL SECURITY;
ALTER TABLE system.realms OWNER TO verbatim_owner;
CREATE TABLE system.roles (
    role_id uuid NOT NULL,
    principal uuid NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    verbatim_root text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY system.roles FORCE ROW LEVEL SECURITY;
ALTER TABLE system.roles OWNER TO verbatim_owner;
CREATE TABLE system.tokens (
    token_id uuid NOT NULL,
    principal uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    audience text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL,
    "only" text COLLATE pg_catalog."C",
    added_at timestamp with time zone,
    verbatim_root text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY system.tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE system.tokens OWNER TO verbatim_owner;
CREATE TABLE verbatim.attempts (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    text_digest text NOT NULL COLLATE pg_catalog."C",
    sent_digest text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    answer json,
    settled_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.attempts FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.attempts OWNER TO verbatim_owner;
CREATE TABLE verbatim.confirmations (
    key text NOT NULL COLLATE pg_catalog."C",
    id text COLLATE pg_catalog."C",
    short_id text COLLATE pg_catalog."C",
    asker text NOT NULL COLLATE pg_catalog."C",
    person text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    script text NOT NULL COLLATE pg_catalog."C",
    origins text COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    preview text NOT NULL COLLATE pg_catalog."C",
    palette text NOT NULL COLLATE pg_catalog."C",
    roles json NOT NULL,
    agreed json NOT NULL,
    stands_on json NOT NULL,
    under_key text COLLATE pg_catalog."C",
    asked_at timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    settled_by text COLLATE pg_catalog."C",
    settled_at timestamp with time zone,
    reason text COLLATE pg_catalog."C",
    receipt text COLLATE pg_catalog."C",
    before_turn bigint,
    turn text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY verbatim.confirmations FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.confirmations OWNER TO verbatim_owner;
CREATE TABLE verbatim.contents (
    sum text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY verbatim.contents FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.contents OWNER TO verbatim_owner;
CREATE TABLE verbatim.deliveries (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    text_digest text NOT NULL COLLATE pg_catalog."C",
    written_digest text NOT NULL COLLATE pg_catalog."C",
    reply text NOT NULL COLLATE pg_catalog."C",
    call_by_call boolean NOT NULL,
    done_at timestamp with time zone NOT NULL,
    first_entry bigint
);
ALTER TABLE ONLY verbatim.deliveries FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.deliveries OWNER TO verbatim_owner;
CREATE TABLE verbatim.links (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    browser text NOT NULL COLLATE pg_catalog."C",
    good_until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.links FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.links OWNER TO verbatim_owner;
CREATE TABLE verbatim.logins (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    how text NOT NULL COLLATE pg_catalog."C",
    proven_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.logins FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.logins OWNER TO verbatim_owner;
CREATE TABLE verbatim.openings (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    committed text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY verbatim.openings FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.openings OWNER TO verbatim_owner;
CREATE TABLE verbatim.peer_messages (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    sum text NOT NULL COLLATE pg_catalog."C",
    task text NOT NULL COLLATE pg_catalog."C",
    context text NOT NULL COLLATE pg_catalog."C",
    said_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.peer_messages FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_messages OWNER TO verbatim_owner;
CREATE TABLE verbatim.peer_pushes (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    task text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    row_key text NOT NULL COLLATE pg_catalog."C",
    by_token text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL COLLATE pg_catalog."C",
    scheme text NOT NULL COLLATE pg_catalog."C",
    credentials text NOT NULL COLLATE pg_catalog."C",
    told text NOT NULL COLLATE pg_catalog."C",
    ended boolean NOT NULL,
    made_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.peer_pushes FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_pushes OWNER TO verbatim_owner;
CREATE TABLE verbatim.questions (
    key text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    preview text NOT NULL COLLATE pg_catalog."C",
    asked_at timestamp with time zone NOT NULL,
    good_until timestamp with time zone NOT NULL,
    put_at_turn bigint NOT NULL,
    put_after text COLLATE pg_catalog."C",
    before_turn bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    script text NOT NULL COLLATE pg_catalog."C",
    origins text NOT NULL COLLATE pg_catalog."C",
    first_put_at_turn bigint NOT NULL,
    about json NOT NULL,
    verbatim_root text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY verbatim.questions FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.questions OWNER TO verbatim_owner;
CREATE TABLE verbatim.sessions (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    zone text COLLATE pg_catalog."C",
    language text COLLATE pg_catalog."C",
    set_values json NOT NULL,
    started timestamp with time zone NOT NULL,
    last_active timestamp with time zone NOT NULL,
    visits bigint NOT NULL,
    turns bigint NOT NULL,
    version bigint NOT NULL
);
ALTER TABLE ONLY verbatim.sessions FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.sessions OWNER TO verbatim_owner;
CREATE TABLE verbatim.tallies (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    changed timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.tallies FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.tallies OWNER TO verbatim_owner;
CREATE TABLE verbatim.turns (
    key text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    said_at timestamp with time zone NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    content text COLLATE pg_catalog."C",
    about json,
    entries bigint NOT NULL,
    first_entry bigint,
    via text COLLATE pg_catalog."C",
    verbatim_root text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY verbatim.turns FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.turns OWNER TO verbatim_owner;
CREATE TABLE verbatim.uploads (
    id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    media_type text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    sum text NOT NULL COLLATE pg_catalog."C",
    content text COLLATE pg_catalog."C",
    verdict text NOT NULL COLLATE pg_catalog."C",
    scanner text COLLATE pg_catalog."C",
    uploaded_at timestamp with time zone NOT NULL,
    expires timestamp with time zone,
    used_by text COLLATE pg_catalog."C",
    used_at timestamp with time zone
);
ALTER TABLE ONLY verbatim.uploads FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.uploads OWNER TO verbatim_owner;
CREATE TABLE verbatim.uses (
    key text NOT NULL COLLATE pg_catalog."C",
    verb text NOT NULL COLLATE pg_catalog."C",
    times json NOT NULL,
    counts_until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY verbatim.uses FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.uses OWNER TO verbatim_owner;
CREATE TABLE verbatim_river.river_job (
    id bigint NOT NULL,
    state verbatim_river.river_job_state DEFAULT 'available'::verbatim_river.river_job_state NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone DEFAULT now() NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL,
    tags character varying(255)[] DEFAULT '{}'::character varying[] NOT NULL,
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::verbatim_river.river_job_state, 'completed'::verbatim_river.river_job_state, 'discarded'::verbatim_river.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::verbatim_river.river_job_state, 'completed'::verbatim_river.river_job_state, 'discarded'::verbatim_river.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);
ALTER TABLE verbatim_river.river_job OWNER TO verbatim_owner;
CREATE SEQUENCE verbatim_river.river_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE verbatim_river.river_job_id_seq OWNER TO verbatim_owner;
ALTER SEQUENCE verbatim_river.river_job_id_seq OWNED BY verbatim_river.river_job.id;
CREATE UNLOGGED TABLE verbatim_river.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);
ALTER TABLE verbatim_river.river_leader OWNER TO verbatim_owner;
CREATE TABLE verbatim_river.river_migration (
    line text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT line_length CHECK (((char_length(line) > 0) AND (char_length(line) < 128))),
    CONSTRAINT version_gte_1 CHECK ((version >= 1))
);
ALTER TABLE verbatim_river.river_migration OWNER TO verbatim_owner;
CREATE TABLE verbatim_river.river_notification (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (((length(topic) > 0) AND (length(topic) < 128)))
);
ALTER TABLE verbatim_river.river_notification OWNER TO verbatim_owner;
CREATE SEQUENCE verbatim_river.river_notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE verbatim_river.river_notification_id_seq OWNER TO verbatim_owner;
ALTER SEQUENCE verbatim_river.river_notification_id_seq OWNED BY verbatim_river.river_notification.id;
CREATE TABLE verbatim_river.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);
ALTER TABLE verbatim_river.river_queue OWNER TO verbatim_owner;
ALTER TABLE ONLY verbatim_river.river_job ALTER COLUMN id SET DEFAULT nextval('verbatim_river.river_job_id_seq'::regclass);
ALTER TABLE ONLY verbatim_river.river_notification ALTER COLUMN id SET DEFAULT nextval('verbatim_river.river_notification_id_seq'::regclass);
COPY public.box (box_id, owner, title) FROM stdin;
d8a7d93c-9a21-4dc9-b7af-3b23a984620b	clara	Attic
\.
COPY public.item (item_id, owner, box, name, colour) FROM stdin;
8638191e-4b83-49c8-8e6d-2b18dba760a4	clara	d8a7d93c-9a21-4dc9-b7af-3b23a984620b	Lamp 1	red 1
826f2d03-c231-431b-bd59-750e5c00a31a	clara	d8a7d93c-9a21-4dc9-b7af-3b23a984620b	Lamp 2	red 2
eb7201e2-5ede-46ab-b274-f78ea28affde	clara	d8a7d93c-9a21-4dc9-b7af-3b23a984620b	Lamp 3	red 3
f16f6988-5544-440a-8a31-8e865e752b1d	clara	d8a7d93c-9a21-4dc9-b7af-3b23a984620b	Lamp 4	red 4
6e3b5ec8-8f72-4823-9bb8-3003c77fb28c	clara	d8a7d93c-9a21-4dc9-b7af-3b23a984620b	Lamp 5	red 5
\.
COPY public.verbatim_grant (principal, role, entity, key, kind) FROM stdin;
clara	client			
\.
COPY public.verbatim_journal (seq, "time", principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, prev, body, hash) FROM stdin;
1	2026-11-30 16:13:14.555877+00	clara	["client"]	98c23dff-c710-4a60-8083-f41597a6faad	-:1	shelf.add-box	shelf.add-box :title "Attic"	ok		[{"v":1},{"Entity":"box","Fields":[{"After":"clara","Field":"owner"},{"After":"Attic","Field":"title"}],"Key":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","Op":"insert","Table":"box"}]			94181086245ca70dc450bf12a505466da1316207178e700785ea7b846cab96d3			\\x0000000000000000000000000000000000000000000000000000000000000000	\\x1bcba614d22632f49ab4f4a4e6d9acc5a5b65a0ea9bbdddfb8ae8e59625071f2	\\xa4f50b9db67129d9f006a798f03cca0a27ce5319f1c6a542a31e7ef5c2babb62
2	2026-11-30 16:13:14.615292+00	clara	["client"]	f0234630-4e60-4eaa-8296-cce34facef6d	-:1	shelf.add-item	shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name "Lamp 1" :colour "red 1"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","Field":"box","Kind":"uuid"},{"After":"Lamp 1","Field":"name"},{"After":"red 1","Field":"colour"}],"Key":"8638191e-4b83-49c8-8e6d-2b18dba760a4","Op":"insert","Table":"item"}]			94181086245ca70dc450bf12a505466da1316207178e700785ea7b846cab96d3			\\xa4f50b9db67129d9f006a798f03cca0a27ce5319f1c6a542a31e7ef5c2babb62	\\x559aac20f27cd814f02db46fa2ad348b8050d9d3c269a88e89dd4e75e391b0b0	\\x2f67986558e37f7ae749ed94cb637c755af8106ce7bf3db4e68174bba000ddd4
3	2026-11-30 16:13:14.69035+00	clara	["client"]	d0677dcd-a427-4675-ac9e-0b00c222611a	-:1	shelf.add-item	shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name "Lamp 2" :colour "red 2"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","Field":"box","Kind":"uuid"},{"After":"Lamp 2","Field":"name"},{"After":"red 2","Field":"colour"}],"Key":"826f2d03-c231-431b-bd59-750e5c00a31a","Op":"insert","Table":"item"}]			94181086245ca70dc450bf12a505466da1316207178e700785ea7b846cab96d3			\\x2f67986558e37f7ae749ed94cb637c755af8106ce7bf3db4e68174bba000ddd4	\\xd83f20600087efb542392f5a15fd6341d83d79f51c0670581c1f41710438637f	\\xa59c8ff0f9352578f8fc421ca5e177a2767b67a1247f98c138fb4754e9cfd32c
4	2026-11-30 16:13:14.750709+00	clara	["client"]	6f9cee43-52ec-4a9d-840e-9f66df818845	-:1	shelf.add-item	shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name "Lamp 3" :colour "red 3"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","Field":"box","Kind":"uuid"},{"After":"Lamp 3","Field":"name"},{"After":"red 3","Field":"colour"}],"Key":"eb7201e2-5ede-46ab-b274-f78ea28affde","Op":"insert","Table":"item"}]			94181086245ca70dc450bf12a505466da1316207178e700785ea7b846cab96d3			\\xa59c8ff0f9352578f8fc421ca5e177a2767b67a1247f98c138fb4754e9cfd32c	\\xbe402b90a2e564a29169114f97a71ad4de300badefd257cdc9a3180d895490da	\\x4d0d3556c31b1e0375137369d57a7fcace016fbd00938de542b257896f2104b4
5	2026-11-30 16:13:14.864375+00	clara	["client"]	2ace1c79-6f50-4d0d-b084-13cc06552970	-:1	shelf.add-item	shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name "Lamp 4" :colour "red 4"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","Field":"box","Kind":"uuid"},{"After":"Lamp 4","Field":"name"},{"After":"red 4","Field":"colour"}],"Key":"f16f6988-5544-440a-8a31-8e865e752b1d","Op":"insert","Table":"item"}]			94181086245ca70dc450bf12a505466da1316207178e700785ea7b846cab96d3			\\x4d0d3556c31b1e0375137369d57a7fcace016fbd00938de542b257896f2104b4	\\x11b52b1c29b655cf68a1581d338202cae1bf4eebdd6f9d240f9fed862816594c	\\x2ee1e350ab2542433d2e02d387d0b6b6e068900bbbaf426c350917919f755c81
6	2026-11-30 16:13:14.993184+00	clara	["client"]	da7b9357-14a3-4dcf-a178-3cee5512829a	-:1	shelf.add-item	shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name "Lamp 5" :colour "red 5"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","Field":"box","Kind":"uuid"},{"After":"Lamp 5","Field":"name"},{"After":"red 5","Field":"colour"}],"Key":"6e3b5ec8-8f72-4823-9bb8-3003c77fb28c","Op":"insert","Table":"item"}]			94181086245ca70dc450bf12a505466da1316207178e700785ea7b846cab96d3			\\x2ee1e350ab2542433d2e02d387d0b6b6e068900bbbaf426c350917919f755c81	\\x0e70ee4fa28c9abc8830fdda3f9043620647d5d9352cdfceaf0c28300c8087cc	\\x275829d266666a13ef0db68be7407a69a9803a4666b15ace6d86ebfd196c5091
\.
COPY public.verbatim_name (table_name, plain, owner, row_key, suffix) FROM stdin;
box	attic	clara	d8a7d93c-9a21-4dc9-b7af-3b23a984620b	mv4r3tyxkc7h15jn
item	lamp-1	clara	8638191e-4b83-49c8-8e6d-2b18dba760a4	x0h5jrj37f63cryz
item	lamp-2	clara	826f2d03-c231-431b-bd59-750e5c00a31a	v1n8c6xvwqsftv55
item	lamp-3	clara	eb7201e2-5ede-46ab-b274-f78ea28affde	bd7v1kbfdxb9b7k9
item	lamp-4	clara	f16f6988-5544-440a-8a31-8e865e752b1d	ezapawc0gcfx408j
item	lamp-5	clara	6e3b5ec8-8f72-4823-9bb8-3003c77fb28c	qrsbwr8bs01macr7
\.
COPY public.verbatim_origin (table_name, row_key, column_name, origin) FROM stdin;
\.
COPY public.verbatim_principal (name, label, person) FROM stdin;
clara	Clara	
d.lang	D. Lang	
\.
COPY public.verbatim_schema (version, store, secret) FROM stdin;
3	1da92bbefd5a4c33aba60db5e6e2bfa4	\\x500e480ff92fbbb8d5c8afd07039c58eb3be139fe8f2745e7f428613435d69cd
\.
COPY system.holds (hold_id, principal, entity, held, verbatim_root) FROM stdin;
\.
COPY system.identities (identity_id, principal, issuer, subject, known_by, status, added_at, verified_at, verified_by, revoked_at, reason, heard_at, verbatim_root) FROM stdin;
\.
COPY system.principals (principal_id, realm, name, label, person, email, zone, language, added_at) FROM stdin;
\.
COPY system.realms (realm, changed) FROM stdin;
\.
COPY system.roles (role_id, principal, role, verbatim_root) FROM stdin;
\.
COPY system.tokens (token_id, principal, name, digest, audience, expires_at, "only", added_at, verbatim_root) FROM stdin;
\.
COPY verbatim.attempts (key, principal, text_digest, sent_digest, tool, status, answer, settled_at) FROM stdin;
\.
COPY verbatim.confirmations (key, id, short_id, asker, person, session, source, script, origins, digest, preview, palette, roles, agreed, stands_on, under_key, asked_at, expires, status, settled_by, settled_at, reason, receipt, before_turn, turn) FROM stdin;
\.
COPY verbatim.contents (sum, tag, size, state) FROM stdin;
\.
COPY verbatim.deliveries (key, principal, text_digest, written_digest, reply, call_by_call, done_at, first_entry) FROM stdin;
02cbf9f01de03753723cfbbd1ab3b3258019192d2dcf6db8d2134b50f8b36481	clara	41bb5eae62255dcc6beef26c151d00d7bb88fda90d27c34f27b37d9104c366e4	5d53b28b58cd720db2d3a42831d20882c66cf91289fe130c5a4427f288c3dd75	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name \\"Lamp 1\\" :colour \\"red 1\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 1","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 1","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"8638191e-4b83-49c8-8e6d-2b18dba760a4","Label":"Lamp 1","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"a28d9c4c838c37c95e62aa4c16fb4fac5644ca7e602ada7561c258a757d9c67a","Done":true,"First":1,"ID":"a28d-9c4c-838c-37c9-5e62-aa4c-16fb-4fac","Last":1}	f	2026-11-30 16:13:14.615292+00	2
83695284e3f58ab1a08aef3d06feb938cfc1ec5c9156f69dc7f148c975e0ef58	clara	75ec0944eda1bd36b0de15d7e86f91e606d0f0fd6cb16e725526cc58dc6e863f	99e3a5d8bb20c8300312da08c3d919e18da1f43d8aeeb6b4dfe1ae8ea86f686f	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name \\"Lamp 2\\" :colour \\"red 2\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 2","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 2","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"826f2d03-c231-431b-bd59-750e5c00a31a","Label":"Lamp 2","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"e2cb0fb2b647586e3b1e2819b4d26324224e7f7c97a6286083ff74c42676d0bc","Done":true,"First":1,"ID":"e2cb-0fb2-b647-586e-3b1e-2819-b4d2-6324","Last":1}	f	2026-11-30 16:13:14.69035+00	3
a809668433f697a367749f1517ca4571db65dda4eb8c92f5155b82024b8c929b	clara	3a99ebd2c10d37bdf78515a190154cca320a29b23ff505acb13ae89351196381	1dbb01f536126b1927895d50800fce8d4b1f0f5b4c5a732bbe20a6b48c347326	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name \\"Lamp 3\\" :colour \\"red 3\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 3","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 3","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"eb7201e2-5ede-46ab-b274-f78ea28affde","Label":"Lamp 3","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"0505c1c6676b5cc0c8be430c99ac29991d8b18e61b7fc27a0aa5212e680bc448","Done":true,"First":1,"ID":"0505-c1c6-676b-5cc0-c8be-430c-99ac-2999","Last":1}	f	2026-11-30 16:13:14.750709+00	4
b274950e71cffb9f6d0aedeed8dbf7e92b26dc570ee602dd150e661402d4a5c7	clara	324bc6f017ebfbcce5a356f64b98dbac28b5a623c997b1c20d00d996c2dc3367	76965ed6c3bf864d51ab106e1dad6d11653ece79c8570f9727d800147688bd69	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name \\"Lamp 4\\" :colour \\"red 4\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 4","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 4","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"f16f6988-5544-440a-8a31-8e865e752b1d","Label":"Lamp 4","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"2d20671cc870b4de4ff44f7a57d754a8c8524fd08aa9413a93c7e79c010e07d9","Done":true,"First":1,"ID":"2d20-671c-c870-b4de-4ff4-4f7a-57d7-54a8","Last":1}	f	2026-11-30 16:13:14.864375+00	5
7eaaf2c4c875b52da54f1590368cda4283893a4acd991920c10cd5f3d9051b73	clara	6140220d7ae59feef0716d07ac86da28e045b2d5aaecabd9c74492c261709f40	041a0790b21d9061a7782c322efed4f66c87912d1f3d6123476f41259c0ac1f0	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~mv4r3tyxkc7h15jn :name \\"Lamp 5\\" :colour \\"red 5\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"d8a7d93c-9a21-4dc9-b7af-3b23a984620b","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 5","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 5","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"6e3b5ec8-8f72-4823-9bb8-3003c77fb28c","Label":"Lamp 5","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"20a87e1476c9537cdc7a6e31d2d7ef407b54e91d7b11a0c2acc53ffece83d5fa","Done":true,"First":1,"ID":"20a8-7e14-76c9-537c-dc7a-6e31-d2d7-ef40","Last":1}	f	2026-11-30 16:13:14.993184+00	6
\.
COPY verbatim.links (key, principal, browser, good_until) FROM stdin;
\.
COPY verbatim.logins (key, principal, how, proven_at, seen_at) FROM stdin;
\.
COPY verbatim.openings (key, principal, committed) FROM stdin;
\.
COPY verbatim.peer_messages (key, principal, sum, task, context, said_at) FROM stdin;
\.
COPY verbatim.peer_pushes (key, principal, task, id, row_key, by_token, url, token, scheme, credentials, told, ended, made_at) FROM stdin;
\.
COPY verbatim.questions (key, session, preview, asked_at, good_until, put_at_turn, put_after, before_turn, source, script, origins, first_put_at_turn, about, verbatim_root) FROM stdin;
\.
COPY verbatim.sessions (key, principal, name, zone, language, set_values, started, last_active, visits, turns, version) FROM stdin;
\.
COPY verbatim.tallies (key, principal, name, amount, changed) FROM stdin;
\.
COPY verbatim.turns (key, session, number, said_at, role, content, about, entries, first_entry, via, verbatim_root) FROM stdin;
\.
COPY verbatim.uploads (id, owner, name, media_type, size, sum, content, verdict, scanner, uploaded_at, expires, used_by, used_at) FROM stdin;
\.
COPY verbatim.uses (key, verb, times, counts_until) FROM stdin;
\.
COPY verbatim_river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) FROM stdin;
\.
COPY verbatim_river.river_leader (elected_at, expires_at, leader_id, name) FROM stdin;
\.
COPY verbatim_river.river_migration (line, version, created_at) FROM stdin;
main	1	2026-11-30 16:13:14.334585+00
main	2	2026-11-30 16:13:14.334585+00
main	3	2026-11-30 16:13:14.334585+00
main	4	2026-11-30 16:13:14.334585+00
main	5	2026-11-30 16:13:14.334585+00
main	6	2026-11-30 16:13:14.334585+00
main	7	2026-11-30 16:13:14.334585+00
main	8	2026-11-30 16:13:14.334585+00
\.
COPY verbatim_river.river_notification (id, created_at, payload, topic) FROM stdin;
\.
COPY verbatim_river.river_queue (name, created_at, metadata, paused_at, updated_at) FROM stdin;
\.
SELECT pg_catalog.setval('verbatim_river.river_job_id_seq', 1, false);
SELECT pg_catalog.setval('verbatim_river.river_notification_id_seq', 1, false);
ALTER TABLE ONLY public.box
    ADD CONSTRAINT box_pkey PRIMARY KEY (box_id);
ALTER TABLE ONLY public.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (item_id);
ALTER TABLE ONLY public.verbatim_grant
    ADD CONSTRAINT verbatim_grant_pkey PRIMARY KEY (principal, role, entity, key);
ALTER TABLE ONLY public.verbatim_journal
    ADD CONSTRAINT verbatim_journal_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.verbatim_journal
    ADD CONSTRAINT verbatim_journal_prev_key UNIQUE (prev);
ALTER TABLE ONLY public.verbatim_name
    ADD CONSTRAINT verbatim_name_pkey PRIMARY KEY (table_name, plain, owner, row_key);
ALTER TABLE ONLY public.verbatim_origin
    ADD CONSTRAINT verbatim_origin_pkey PRIMARY KEY (table_name, row_key, column_name);
ALTER TABLE ONLY public.verbatim_principal
    ADD CONSTRAINT verbatim_principal_pkey PRIMARY KEY (name);
ALTER TABLE ONLY system.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (hold_id);
ALTER TABLE ONLY system.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (identity_id);
ALTER TABLE ONLY system.principals
    ADD CONSTRAINT principals_pkey PRIMARY KEY (principal_id);
ALTER TABLE ONLY system.realms
    ADD CONSTRAINT realms_pkey PRIMARY KEY (realm);
ALTER TABLE ONLY system.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (role_id);
ALTER TABLE ONLY system.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (token_id);
ALTER TABLE ONLY verbatim.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.confirmations
    ADD CONSTRAINT confirmations_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (sum);
ALTER TABLE ONLY verbatim.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.logins
    ADD CONSTRAINT logins_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.openings
    ADD CONSTRAINT openings_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.peer_messages
    ADD CONSTRAINT peer_messages_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.peer_pushes
    ADD CONSTRAINT peer_pushes_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.questions
    ADD CONSTRAINT questions_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (id);
ALTER TABLE ONLY verbatim.uses
    ADD CONSTRAINT uses_pkey PRIMARY KEY (key);
ALTER TABLE ONLY verbatim_river.river_job
    ADD CONSTRAINT river_job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY verbatim_river.river_leader
    ADD CONSTRAINT river_leader_pkey PRIMARY KEY (name);
ALTER TABLE ONLY verbatim_river.river_migration
    ADD CONSTRAINT river_migration_pkey1 PRIMARY KEY (line, version);
ALTER TABLE ONLY verbatim_river.river_notification
    ADD CONSTRAINT river_notification_pkey PRIMARY KEY (id);
ALTER TABLE ONLY verbatim_river.river_queue
    ADD CONSTRAINT river_queue_pkey PRIMARY KEY (name);
CREATE INDEX box_owner_idx ON public.box USING btree (owner);
CREATE INDEX item_box_idx ON public.item USING btree (box);
CREATE INDEX item_owner_idx ON public.item USING btree (owner);
CREATE INDEX verbatim_name_row ON public.verbatim_name USING btree (table_name, row_key);
CREATE INDEX verbatim_name_suffix ON public.verbatim_name USING btree (table_name, suffix);
CREATE UNIQUE INDEX holds_principal_entity_held_key ON system.holds USING btree (principal, entity, held);
CREATE INDEX holds_verbatim_root_idx ON system.holds USING btree (verbatim_root);
CREATE UNIQUE INDEX identities_issuer_known_by_principal_key ON system.identities USING btree (issuer, known_by, principal);
CREATE INDEX identities_principal_idx ON system.identities USING btree (principal);
CREATE INDEX identities_verbatim_root_idx ON system.identities USING btree (verbatim_root);
CREATE UNIQUE INDEX principals_principal_id_realm_key ON system.principals USING btree (principal_id, realm);
CREATE UNIQUE INDEX principals_realm_name_key ON system.principals USING btree (realm, name);
CREATE UNIQUE INDEX roles_principal_role_key ON system.roles USING btree (principal, role);
CREATE INDEX roles_verbatim_root_idx ON system.roles USING btree (verbatim_root);
CREATE INDEX tokens_digest_idx ON system.tokens USING btree (digest);
CREATE UNIQUE INDEX tokens_principal_name_key ON system.tokens USING btree (principal, name);
CREATE INDEX tokens_verbatim_root_idx ON system.tokens USING btree (verbatim_root);
CREATE INDEX confirmations_asker_digest_idx ON verbatim.confirmations USING btree (asker, digest);
CREATE INDEX confirmations_asker_id_idx ON verbatim.confirmations USING btree (asker, id);
CREATE INDEX confirmations_short_id_idx ON verbatim.confirmations USING btree (short_id);
CREATE INDEX confirmations_status_asked_at_idx ON verbatim.confirmations USING btree (status, asked_at);
CREATE INDEX openings_principal_idx ON verbatim.openings USING btree (principal);
CREATE INDEX questions_session_idx ON verbatim.questions USING btree (session);
CREATE INDEX questions_verbatim_root_idx ON verbatim.questions USING btree (verbatim_root);
CREATE UNIQUE INDEX sessions_key_principal_key ON verbatim.sessions USING btree (key, principal);
CREATE INDEX sessions_principal_idx ON verbatim.sessions USING btree (principal);
CREATE INDEX tallies_principal_idx ON verbatim.tallies USING btree (principal);
CREATE UNIQUE INDEX turns_session_number_key ON verbatim.turns USING btree (session, number);
CREATE UNIQUE INDEX turns_session_via_key ON verbatim.turns USING btree (session, via);
CREATE INDEX turns_verbatim_root_idx ON verbatim.turns USING btree (verbatim_root);
CREATE INDEX uploads_content_idx ON verbatim.uploads USING btree (content);
CREATE INDEX uploads_owner_idx ON verbatim.uploads USING btree (owner);
CREATE INDEX river_job_kind ON verbatim_river.river_job USING btree (kind);
CREATE INDEX river_job_prioritized_fetching_index ON verbatim_river.river_job USING btree (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_state_and_finalized_at_index ON verbatim_river.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);
CREATE UNIQUE INDEX river_job_unique_idx ON verbatim_river.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND verbatim_river.river_job_state_in_bitmask(unique_states, state));
CREATE INDEX river_notification_created_at_idx ON verbatim_river.river_notification USING btree (created_at);
CREATE INDEX river_notification_topic_id_idx ON verbatim_river.river_notification USING btree (topic, id);
CREATE UNIQUE INDEX verbatim_job_id ON verbatim_river.river_job USING btree (((metadata ->> 'verbatim_id'::text)));
CREATE TRIGGER verbatim_journal_rows BEFORE DELETE OR UPDATE ON public.verbatim_journal FOR EACH ROW EXECUTE FUNCTION public.verbatim_append_only();
CREATE TRIGGER verbatim_journal_table BEFORE TRUNCATE ON public.verbatim_journal FOR EACH STATEMENT EXECUTE FUNCTION public.verbatim_append_only();
CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF principal ON system.holds FOR EACH ROW WHEN ((new.principal IS DISTINCT FROM old.principal)) EXECUTE FUNCTION public.verbatim_root_a8597635704f();
CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF principal ON system.identities FOR EACH ROW WHEN ((new.principal IS DISTINCT FROM old.principal)) EXECUTE FUNCTION public.verbatim_root_40e99ed916d4();
CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF principal ON system.roles FOR EACH ROW WHEN ((new.principal IS DISTINCT FROM old.principal)) EXECUTE FUNCTION public.verbatim_root_46d2df445b7e();
CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF principal ON system.tokens FOR EACH ROW WHEN ((new.principal IS DISTINCT FROM old.principal)) EXECUTE FUNCTION public.verbatim_root_67cfe6c06099();
CREATE TRIGGER verbatim_root_new BEFORE INSERT ON system.holds FOR EACH ROW WHEN ((new.verbatim_root IS NULL)) EXECUTE FUNCTION public.verbatim_root_a8597635704f();
CREATE TRIGGER verbatim_root_new BEFORE INSERT ON system.identities FOR EACH ROW WHEN ((new.verbatim_root IS NULL)) EXECUTE FUNCTION public.verbatim_root_40e99ed916d4();
CREATE TRIGGER verbatim_root_new BEFORE INSERT ON system.roles FOR EACH ROW WHEN ((new.verbatim_root IS NULL)) EXECUTE FUNCTION public.verbatim_root_46d2df445b7e();
CREATE TRIGGER verbatim_root_new BEFORE INSERT ON system.tokens FOR EACH ROW WHEN ((new.verbatim_root IS NULL)) EXECUTE FUNCTION public.verbatim_root_67cfe6c06099();
CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF session ON verbatim.questions FOR EACH ROW WHEN ((new.session IS DISTINCT FROM old.session)) EXECUTE FUNCTION public.verbatim_root_2381606604f1();
CREATE TRIGGER verbatim_root_moved BEFORE UPDATE OF session ON verbatim.turns FOR EACH ROW WHEN ((new.session IS DISTINCT FROM old.session)) EXECUTE FUNCTION public.verbatim_root_aa89292e8b80();
CREATE TRIGGER verbatim_root_new BEFORE INSERT ON verbatim.questions FOR EACH ROW WHEN ((new.verbatim_root IS NULL)) EXECUTE FUNCTION public.verbatim_root_2381606604f1();
CREATE TRIGGER verbatim_root_new BEFORE INSERT ON verbatim.turns FOR EACH ROW WHEN ((new.verbatim_root IS NULL)) EXECUTE FUNCTION public.verbatim_root_aa89292e8b80();
ALTER TABLE ONLY public.item
    ADD CONSTRAINT item_box_fkey FOREIGN KEY (box) REFERENCES public.box(box_id);
ALTER TABLE ONLY public.verbatim_grant
    ADD CONSTRAINT verbatim_grant_principal_fkey FOREIGN KEY (principal) REFERENCES public.verbatim_principal(name) ON DELETE CASCADE;
ALTER TABLE ONLY system.principals
    ADD CONSTRAINT principals_realm_fkey FOREIGN KEY (realm) REFERENCES system.realms(realm);
ALTER TABLE ONLY system.identities
    ADD CONSTRAINT verbatim_root_40e99ed916d4 FOREIGN KEY (principal, verbatim_root) REFERENCES system.principals(principal_id, realm) ON UPDATE CASCADE;
ALTER TABLE ONLY system.roles
    ADD CONSTRAINT verbatim_root_46d2df445b7e FOREIGN KEY (principal, verbatim_root) REFERENCES system.principals(principal_id, realm) ON UPDATE CASCADE;
ALTER TABLE ONLY system.tokens
    ADD CONSTRAINT verbatim_root_67cfe6c06099 FOREIGN KEY (principal, verbatim_root) REFERENCES system.principals(principal_id, realm) ON UPDATE CASCADE;
ALTER TABLE ONLY system.holds
    ADD CONSTRAINT verbatim_root_a8597635704f FOREIGN KEY (principal, verbatim_root) REFERENCES system.principals(principal_id, realm) ON UPDATE CASCADE;
ALTER TABLE ONLY verbatim.uploads
    ADD CONSTRAINT uploads_content_fkey FOREIGN KEY (content) REFERENCES verbatim.contents(sum);
ALTER TABLE ONLY verbatim.questions
    ADD CONSTRAINT verbatim_root_2381606604f1 FOREIGN KEY (session, verbatim_root) REFERENCES verbatim.sessions(key, principal) ON UPDATE CASCADE;
ALTER TABLE ONLY verbatim.turns
    ADD CONSTRAINT verbatim_root_aa89292e8b80 FOREIGN KEY (session, verbatim_root) REFERENCES verbatim.sessions(key, principal) ON UPDATE CASCADE;
ALTER TABLE public.box ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.item ENABLE ROW LEVEL SECURITY;
CREATE POLICY verbatim_open ON public.box USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON public.item USING (true) WITH CHECK (true);
CREATE POLICY verbatim_scope_0d7587d73022 ON public.item AS RESTRICTIVE USING (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_89d8cff7508a ON public.box AS RESTRICTIVE USING (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
ALTER TABLE system.holds ENABLE ROW LEVEL SECURITY;
ALTER TABLE system.identities ENABLE ROW LEVEL SECURITY;
ALTER TABLE system.principals ENABLE ROW LEVEL SECURITY;
ALTER TABLE system.realms ENABLE ROW LEVEL SECURITY;
ALTER TABLE system.roles ENABLE ROW LEVEL SECURITY;
ALTER TABLE system.tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY verbatim_open ON system.holds USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.identities USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.principals USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.realms USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.roles USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.tokens USING (true) WITH CHECK (true);
CREATE POLICY verbatim_scope_227832fdbb2b ON system.realms AS RESTRICTIVE USING (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_253a9677d89b ON system.holds AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_6678e900eece ON system.tokens AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_726a8d7b9d63 ON system.roles AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_e32f270b641c ON system.principals AS RESTRICTIVE USING (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_eb28f20e5a9a ON system.identities AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
ALTER TABLE verbatim.attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.confirmations ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.contents ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.links ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.logins ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.openings ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_pushes ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.questions ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.tallies ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.uploads ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.uses ENABLE ROW LEVEL SECURITY;
CREATE POLICY verbatim_open ON verbatim.attempts USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.confirmations USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.contents USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.deliveries USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.links USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.logins USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.openings USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.peer_messages USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.peer_pushes USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.questions USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.sessions USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.tallies USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.turns USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.uploads USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.uses USING (true) WITH CHECK (true);
CREATE POLICY verbatim_scope_00bf626e6fd6 ON verbatim.questions AS RESTRICTIVE USING (((verbatim_root = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_0a560fc8d898 ON verbatim.sessions AS RESTRICTIVE USING (((principal = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((principal = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_1551d874855b ON verbatim.contents AS RESTRICTIVE USING (((sum = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_content_f6cb8476226e_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((sum = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_content_f6cb8476226e_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_22aa476e8b5f ON verbatim.logins AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_login_0da720ecda1c_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_login_0da720ecda1c_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_3e78d43f1644 ON verbatim.tallies AS RESTRICTIVE USING (((principal = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((principal = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_3ef6733a6935 ON verbatim.uses AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_use_85308bd25224_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_use_85308bd25224_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_40988e8274a7 ON verbatim.confirmations AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_confirmation_b2bf9ad75c51_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_confirmation_b2bf9ad75c51_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_501a1fdf0fed ON verbatim.openings AS RESTRICTIVE USING (((principal = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((principal = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_5d8aa92c7c32 ON verbatim.deliveries AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_delivery_27e20932aa15_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_delivery_27e20932aa15_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_67381d088569 ON verbatim.uploads AS RESTRICTIVE USING (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_7072a70d4e53 ON verbatim.peer_messages AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_message_8e69f9401305_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_message_8e69f9401305_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_76bd7cb3234b ON verbatim.turns AS RESTRICTIVE USING (((verbatim_root = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_c3f7108b90af ON verbatim.links AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_link_7c41833e8e83_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_link_7c41833e8e83_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_d76ea9f3f30e ON verbatim.peer_pushes AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_push_0c21a0f15af6_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_push_0c21a0f15af6_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_f147a7f6f2db ON verbatim.attempts AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_attempt_e58e7353b799_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_attempt_e58e7353b799_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
GRANT USAGE ON SCHEMA system TO verbatim_app;
GRANT USAGE ON SCHEMA system TO verbatim_app_queries;
GRANT USAGE ON SCHEMA verbatim TO verbatim_app;
GRANT USAGE ON SCHEMA verbatim_river TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.box TO verbatim_app;
GRANT SELECT(box_id) ON TABLE public.box TO verbatim_app_queries;
GRANT SELECT(owner) ON TABLE public.box TO verbatim_app_queries;
GRANT SELECT(title) ON TABLE public.box TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.item TO verbatim_app;
GRANT SELECT(item_id) ON TABLE public.item TO verbatim_app_queries;
GRANT SELECT(owner) ON TABLE public.item TO verbatim_app_queries;
GRANT SELECT(box) ON TABLE public.item TO verbatim_app_queries;
GRANT SELECT(name) ON TABLE public.item TO verbatim_app_queries;
GRANT SELECT(colour) ON TABLE public.item TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE ON TABLE public.verbatim_grant TO verbatim_app;
GRANT SELECT,INSERT ON TABLE public.verbatim_journal TO verbatim_app;
GRANT SELECT,INSERT ON TABLE public.verbatim_name TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.verbatim_origin TO verbatim_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.verbatim_principal TO verbatim_app;
GRANT SELECT ON TABLE public.verbatim_schema TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.holds TO verbatim_app;
GRANT SELECT(hold_id) ON TABLE system.holds TO verbatim_app_queries;
GRANT SELECT(principal) ON TABLE system.holds TO verbatim_app_queries;
GRANT SELECT(entity) ON TABLE system.holds TO verbatim_app_queries;
GRANT SELECT(held) ON TABLE system.holds TO verbatim_app_queries;
GRANT SELECT(verbatim_root) ON TABLE system.holds TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.identities TO verbatim_app;
GRANT SELECT(identity_id) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(principal) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(issuer) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(subject) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(known_by) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(status) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(added_at) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(verified_at) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(verified_by) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(revoked_at) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(reason) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(heard_at) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT(verbatim_root) ON TABLE system.identities TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.principals TO verbatim_app;
GRANT SELECT(principal_id) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(realm) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(name) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(label) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(person) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(email) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(zone) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(language) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT(added_at) ON TABLE system.principals TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.realms TO verbatim_app;
GRANT SELECT(realm) ON TABLE system.realms TO verbatim_app_queries;
GRANT SELECT(changed) ON TABLE system.realms TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.roles TO verbatim_app;
GRANT SELECT(role_id) ON TABLE system.roles TO verbatim_app_queries;
GRANT SELECT(principal) ON TABLE system.roles TO verbatim_app_queries;
GRANT SELECT(role) ON TABLE system.roles TO verbatim_app_queries;
GRANT SELECT(verbatim_root) ON TABLE system.roles TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.tokens TO verbatim_app;
GRANT SELECT(token_id) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(principal) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(name) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(digest) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(audience) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(expires_at) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT("only") ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(added_at) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(verbatim_root) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.attempts TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.confirmations TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.contents TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.deliveries TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.links TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.logins TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.openings TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.peer_messages TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.peer_pushes TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.questions TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.sessions TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.tallies TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.turns TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.uploads TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.uses TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim_river.river_job TO verbatim_app;
GRANT UPDATE ON SEQUENCE verbatim_river.river_job_id_seq TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim_river.river_leader TO verbatim_app;
GRANT SELECT ON TABLE verbatim_river.river_migration TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim_river.river_queue TO verbatim_app;
