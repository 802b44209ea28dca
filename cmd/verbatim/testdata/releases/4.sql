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
    title text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
);
ALTER TABLE ONLY public.box FORCE ROW LEVEL SECURITY;
ALTER TABLE public.box OWNER TO verbatim_owner;
CREATE TABLE public.item (
    item_id uuid NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    box uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    colour text COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
CREATE TABLE public.verbatim_place (
    written bigint NOT NULL,
    timeline text NOT NULL
);
ALTER TABLE public.verbatim_place OWNER TO verbatim_owner;
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
    verbatim_root text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    verbatim_root text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    added_at timestamp with time zone,
    verbatim_origins jsonb
);
ALTER TABLE ONLY system.principals FORCE ROW LEVEL SECURITY;
ALTER TABLE system.principals OWNER TO verbatim_owner;
CREATE TABLE system.realms (
    realm text NOT NULL COLLATE pg_catalog."C",
    changed timestamp with time zone,
    verbatim_origins jsonb
);
ALTER TABLE ONLY system.realms FORCE ROW LEVEL SECURITY;
ALTER TABLE system.realms OWNER TO verbatim_owner;
CREATE TABLE system.roles (
    role_id uuid NOT NULL,
    principal uuid NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    verbatim_root text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
);
ALTER TABLE ONLY system.roles FORCE ROW LEVEL SECURITY;
ALTER TABLE system.roles OWNER TO verbatim_owner;
CREATE TABLE system.standing_rules (
    rule_id uuid NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    verb text NOT NULL COLLATE pg_catalog."C",
    until date NOT NULL,
    row_entity text COLLATE pg_catalog."C",
    row_key text COLLATE pg_catalog."C",
    row_name text COLLATE pg_catalog."C",
    "when" text COLLATE pg_catalog."C",
    given_at timestamp with time zone NOT NULL,
    verbatim_origins jsonb
);
ALTER TABLE ONLY system.standing_rules FORCE ROW LEVEL SECURITY;
ALTER TABLE system.standing_rules OWNER TO verbatim_owner;
CREATE TABLE system.tokens (
    token_id uuid NOT NULL,
    principal uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    audience text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL,
    "only" text COLLATE pg_catalog."C",
    origin text COLLATE pg_catalog."C",
    added_at timestamp with time zone,
    verbatim_root text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    settled_at timestamp with time zone NOT NULL,
    same_calls text COLLATE pg_catalog."C",
    first_entry bigint,
    ended text COLLATE pg_catalog."C",
    ended_by text COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    turn text COLLATE pg_catalog."C",
    occasion text COLLATE pg_catalog."C",
    answers text COLLATE pg_catalog."C",
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.confirmations FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.confirmations OWNER TO verbatim_owner;
CREATE TABLE verbatim.contents (
    sum text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    first_entry bigint,
    same_calls text COLLATE pg_catalog."C",
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.deliveries FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.deliveries OWNER TO verbatim_owner;
CREATE TABLE verbatim.links (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    browser text NOT NULL COLLATE pg_catalog."C",
    good_until timestamp with time zone NOT NULL,
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.links FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.links OWNER TO verbatim_owner;
CREATE TABLE verbatim.logins (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    how text NOT NULL COLLATE pg_catalog."C",
    proven_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.logins FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.logins OWNER TO verbatim_owner;
CREATE TABLE verbatim.openings (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    committed text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.openings FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.openings OWNER TO verbatim_owner;
CREATE TABLE verbatim.peer_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    seed text NOT NULL COLLATE pg_catalog."C",
    made_at timestamp with time zone NOT NULL,
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.peer_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_keys OWNER TO verbatim_owner;
CREATE TABLE verbatim.peer_messages (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    sum text NOT NULL COLLATE pg_catalog."C",
    task text NOT NULL COLLATE pg_catalog."C",
    context text NOT NULL COLLATE pg_catalog."C",
    said_at timestamp with time zone NOT NULL,
    verbatim_origins jsonb
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
    made_at timestamp with time zone NOT NULL,
    verbatim_origins jsonb
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
    verbatim_root text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    version bigint NOT NULL,
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.sessions FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.sessions OWNER TO verbatim_owner;
CREATE TABLE verbatim.tallies (
    key text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    changed timestamp with time zone NOT NULL,
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.tallies FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.tallies OWNER TO verbatim_owner;
CREATE TABLE verbatim.trail (
    id text NOT NULL COLLATE pg_catalog."C",
    entry bigint NOT NULL,
    is_first boolean NOT NULL,
    "time" timestamp with time zone NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    verb text NOT NULL COLLATE pg_catalog."C",
    entity text COLLATE pg_catalog."C",
    row_key text COLLATE pg_catalog."C",
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.trail FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.trail OWNER TO verbatim_owner;
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
    verbatim_root text NOT NULL COLLATE pg_catalog."C",
    verbatim_origins jsonb
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
    used_at timestamp with time zone,
    named_by json,
    verbatim_origins jsonb
);
ALTER TABLE ONLY verbatim.uploads FORCE ROW LEVEL SECURITY;
ALTER TABLE verbatim.uploads OWNER TO verbatim_owner;
CREATE TABLE verbatim.uses (
    key text NOT NULL COLLATE pg_catalog."C",
    verb text NOT NULL COLLATE pg_catalog."C",
    times json NOT NULL,
    counts_until timestamp with time zone NOT NULL,
    verbatim_origins jsonb
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
COPY public.box (box_id, owner, title, verbatim_origins) FROM stdin;
510b1d1a-e0a9-42c3-b1f2-a4283376516d	clara	Attic	\N
\.
COPY public.item (item_id, owner, box, name, colour, verbatim_origins) FROM stdin;
2d03461e-e14f-4a0b-b6c4-55c446f27988	clara	510b1d1a-e0a9-42c3-b1f2-a4283376516d	Lamp 1	red 1	\N
c20c9c6b-605e-4850-905c-1a8aa0db8662	clara	510b1d1a-e0a9-42c3-b1f2-a4283376516d	Lamp 2	red 2	\N
edc5f833-6df8-4b5f-b2a9-b1358985ad58	clara	510b1d1a-e0a9-42c3-b1f2-a4283376516d	Lamp 3	red 3	\N
2960845c-897d-4947-b35b-5fbf34f80e34	clara	510b1d1a-e0a9-42c3-b1f2-a4283376516d	Lamp 4	red 4	\N
f8c7125c-4f18-4099-a303-a62990fc5c31	clara	510b1d1a-e0a9-42c3-b1f2-a4283376516d	Lamp 5	red 5	\N
\.
COPY public.verbatim_grant (principal, role, entity, key, kind) FROM stdin;
clara	client			
\.
COPY public.verbatim_journal (seq, "time", principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, prev, body, hash) FROM stdin;
1	2026-11-30 16:13:18.852264+00	clara	["client"]	e8453f19-279d-4210-8262-525b55ae7976	-:1	shelf.add-box	shelf.add-box :title "Attic"	ok		[{"v":1},{"Entity":"box","Fields":[{"After":"clara","Field":"owner"},{"After":"Attic","Field":"title"}],"Key":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","Op":"insert","Table":"box"}]			95c4fc346c306d9c56cd8c1ad9738f9eda9482fa778cb66467b1f5470eb40026			\\x0000000000000000000000000000000000000000000000000000000000000000	\\x6eb0647a682b8892b51118519932a4488475e3ed15ac94678ee53f984d6cc727	\\x3ddb3a188510f49938eb3609e90f4deac9c6775c08eea0f1e5a9b1eb5bf52c10
2	2026-11-30 16:13:18.951361+00	clara	["client"]	8d73616f-8f73-4d78-b2ec-f20a0e461c67	-:1	shelf.add-item	shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name "Lamp 1" :colour "red 1"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","Field":"box","Kind":"uuid"},{"After":"Lamp 1","Field":"name"},{"After":"red 1","Field":"colour"}],"Key":"2d03461e-e14f-4a0b-b6c4-55c446f27988","Op":"insert","Table":"item"}]			95c4fc346c306d9c56cd8c1ad9738f9eda9482fa778cb66467b1f5470eb40026			\\x3ddb3a188510f49938eb3609e90f4deac9c6775c08eea0f1e5a9b1eb5bf52c10	\\xb8ac4e135da31ed307640160f324e0e62fb50add88b5fe4f2cee121bb7f4c6db	\\xe36d86b96aa17894abe5a0c24fbfd999529d82ecdc5ec7bba7a808204bf5c7a5
3	2026-11-30 16:13:19.060524+00	clara	["client"]	99902cce-af7d-4024-bb94-8323a8c56c11	-:1	shelf.add-item	shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name "Lamp 2" :colour "red 2"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","Field":"box","Kind":"uuid"},{"After":"Lamp 2","Field":"name"},{"After":"red 2","Field":"colour"}],"Key":"c20c9c6b-605e-4850-905c-1a8aa0db8662","Op":"insert","Table":"item"}]			95c4fc346c306d9c56cd8c1ad9738f9eda9482fa778cb66467b1f5470eb40026			\\xe36d86b96aa17894abe5a0c24fbfd999529d82ecdc5ec7bba7a808204bf5c7a5	\\x3949340a259a39af5739b23ea27c8e3644dc3fce967675bd0f20b216e82acc03	\\x8d548feacc4691bff29e555a3c7059c86b3d51e789967e9c76973ab3e4bf03b3
4	2026-11-30 16:13:19.173906+00	clara	["client"]	cda8a81e-7133-4c24-87da-abad2a7d18ff	-:1	shelf.add-item	shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name "Lamp 3" :colour "red 3"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","Field":"box","Kind":"uuid"},{"After":"Lamp 3","Field":"name"},{"After":"red 3","Field":"colour"}],"Key":"edc5f833-6df8-4b5f-b2a9-b1358985ad58","Op":"insert","Table":"item"}]			95c4fc346c306d9c56cd8c1ad9738f9eda9482fa778cb66467b1f5470eb40026			\\x8d548feacc4691bff29e555a3c7059c86b3d51e789967e9c76973ab3e4bf03b3	\\x7f49f3790d98a1775aa2040d9e3733e4e1a5bca125d66ca3c8b3badf24ea13be	\\x53f66e3d8e5c63ec01e5c15095a34cd3bd79f044b23003c676f08c7f7cad1bcd
5	2026-11-30 16:13:19.261668+00	clara	["client"]	5517088f-786c-4608-b31c-b400d4c9cca7	-:1	shelf.add-item	shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name "Lamp 4" :colour "red 4"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","Field":"box","Kind":"uuid"},{"After":"Lamp 4","Field":"name"},{"After":"red 4","Field":"colour"}],"Key":"2960845c-897d-4947-b35b-5fbf34f80e34","Op":"insert","Table":"item"}]			95c4fc346c306d9c56cd8c1ad9738f9eda9482fa778cb66467b1f5470eb40026			\\x53f66e3d8e5c63ec01e5c15095a34cd3bd79f044b23003c676f08c7f7cad1bcd	\\x90ed4feb945f1457b55cef278317bfc29df4234cfe0b89f2f6d51e1c889a5678	\\x09018c77669a204f74a884cf62db49c262476542ba859dbd51a0eb387cc9fe32
6	2026-11-30 16:13:19.357703+00	clara	["client"]	fcba4d98-7019-48d0-8079-ac60508b384b	-:1	shelf.add-item	shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name "Lamp 5" :colour "red 5"	ok		[{"v":1},{"Entity":"item","Fields":[{"After":"clara","Field":"owner"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","Field":"box","Kind":"uuid"},{"After":"Lamp 5","Field":"name"},{"After":"red 5","Field":"colour"}],"Key":"f8c7125c-4f18-4099-a303-a62990fc5c31","Op":"insert","Table":"item"}]			95c4fc346c306d9c56cd8c1ad9738f9eda9482fa778cb66467b1f5470eb40026			\\x09018c77669a204f74a884cf62db49c262476542ba859dbd51a0eb387cc9fe32	\\x1ff2ba155979c4ff94ae56c510699208bd39610f9606edbb48e925cc2528e528	\\xca70c043052c6a5048ffb7962c9fb432b210152cceb309fcd75e5969d865fa43
\.
COPY public.verbatim_name (table_name, plain, owner, row_key, suffix) FROM stdin;
box	attic	clara	510b1d1a-e0a9-42c3-b1f2-a4283376516d	eqsms1jjynk58fp9
item	lamp-1	clara	2d03461e-e14f-4a0b-b6c4-55c446f27988	jk5q4pvf2hxbjrwn
item	lamp-2	clara	c20c9c6b-605e-4850-905c-1a8aa0db8662	ngbqrassgsy216gf
item	lamp-3	clara	edc5f833-6df8-4b5f-b2a9-b1358985ad58	5d4kxd4neq4q6131
item	lamp-4	clara	2960845c-897d-4947-b35b-5fbf34f80e34	0m9x3ezk0n9vmebc
item	lamp-5	clara	f8c7125c-4f18-4099-a303-a62990fc5c31	bjjaprzkf6hm4xnm
\.
COPY public.verbatim_origin (table_name, row_key, column_name, origin) FROM stdin;
\.
COPY public.verbatim_place (written, timeline) FROM stdin;
756	00000001
\.
COPY public.verbatim_principal (name, label, person) FROM stdin;
clara	Clara	
d.lang	D. Lang	
\.
COPY public.verbatim_schema (version, store, secret) FROM stdin;
4	a18c12f2d87e4c17a6311ef030f5d7b6	\\x5b7fba640bd3afb03bb04dca40ef56a00588ac5c7c13212e9b7b6831e2c87525
\.
COPY system.holds (hold_id, principal, entity, held, verbatim_root, verbatim_origins) FROM stdin;
\.
COPY system.identities (identity_id, principal, issuer, subject, known_by, status, added_at, verified_at, verified_by, revoked_at, reason, heard_at, verbatim_root, verbatim_origins) FROM stdin;
\.
COPY system.principals (principal_id, realm, name, label, person, email, zone, language, added_at, verbatim_origins) FROM stdin;
\.
COPY system.realms (realm, changed, verbatim_origins) FROM stdin;
\.
COPY system.roles (role_id, principal, role, verbatim_root, verbatim_origins) FROM stdin;
\.
COPY system.standing_rules (rule_id, owner, name, verb, until, row_entity, row_key, row_name, "when", given_at, verbatim_origins) FROM stdin;
\.
COPY system.tokens (token_id, principal, name, digest, audience, expires_at, "only", origin, added_at, verbatim_root, verbatim_origins) FROM stdin;
\.
COPY verbatim.attempts (key, principal, text_digest, sent_digest, tool, status, answer, settled_at, same_calls, first_entry, ended, ended_by, verbatim_origins) FROM stdin;
\.
COPY verbatim.confirmations (key, id, short_id, asker, person, session, source, script, origins, digest, preview, palette, roles, agreed, stands_on, under_key, asked_at, expires, status, settled_by, settled_at, reason, receipt, before_turn, turn, occasion, answers, verbatim_origins) FROM stdin;
\.
COPY verbatim.contents (sum, tag, size, state, verbatim_origins) FROM stdin;
\.
COPY verbatim.deliveries (key, principal, text_digest, written_digest, reply, call_by_call, done_at, first_entry, same_calls, verbatim_origins) FROM stdin;
02cbf9f01de03753723cfbbd1ab3b3258019192d2dcf6db8d2134b50f8b36481	clara	e31b438fbc2bbeca0a038c4bc400cf3fa2ffb5d2fc5c059c2fc05c6749a330a3	5d53b28b58cd720db2d3a42831d20882c66cf91289fe130c5a4427f288c3dd75	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name \\"Lamp 1\\" :colour \\"red 1\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 1","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 1","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"2d03461e-e14f-4a0b-b6c4-55c446f27988","Label":"Lamp 1","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"528f5e731ce1cee305a4c25290cce35fdac17c70d2b85b016e63c15fddda889e","Done":true,"First":1,"ID":"528f-5e73-1ce1-cee3-05a4-c252-90cc-e35f","Last":1}	f	2026-11-30 16:13:18.951361+00	2	75a65ec2db5b99bce7698df70744ceb42d0fb4e52130c8d264b22e6ef17e36bd	\N
83695284e3f58ab1a08aef3d06feb938cfc1ec5c9156f69dc7f148c975e0ef58	clara	d143eb6b630e3381080ef8258215542043e9194d7522f377ff0ed7d71bcb718e	99e3a5d8bb20c8300312da08c3d919e18da1f43d8aeeb6b4dfe1ae8ea86f686f	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name \\"Lamp 2\\" :colour \\"red 2\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 2","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 2","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"c20c9c6b-605e-4850-905c-1a8aa0db8662","Label":"Lamp 2","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"18cc5310c3c53d937b234c66bfe427802cbeb2be2449f44f54315e304d20625e","Done":true,"First":1,"ID":"18cc-5310-c3c5-3d93-7b23-4c66-bfe4-2780","Last":1}	f	2026-11-30 16:13:19.060524+00	3	cced2333447d4c21a2d74b8c7f04f2afa5bb9266c0f61445251fe02a086a2d1e	\N
a809668433f697a367749f1517ca4571db65dda4eb8c92f5155b82024b8c929b	clara	37fc9eb52b87f21ef288ba52e3627243a05ac4dbb3e2b81ac0aaf8dcd013b5a7	1dbb01f536126b1927895d50800fce8d4b1f0f5b4c5a732bbe20a6b48c347326	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name \\"Lamp 3\\" :colour \\"red 3\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 3","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 3","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"edc5f833-6df8-4b5f-b2a9-b1358985ad58","Label":"Lamp 3","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"fd41c7c194fd5d1a723f89ba4e9b2295bf526a01af3dc8574c91965c5038c600","Done":true,"First":1,"ID":"fd41-c7c1-94fd-5d1a-723f-89ba-4e9b-2295","Last":1}	f	2026-11-30 16:13:19.173906+00	4	481ee4c98d23d6845cf143678078e220e71e71a873c74c8de4e9843b0d24b973	\N
b274950e71cffb9f6d0aedeed8dbf7e92b26dc570ee602dd150e661402d4a5c7	clara	fba93d7741b592d2a225414b214c914234bf273e93c53721830984332ca559ee	76965ed6c3bf864d51ab106e1dad6d11653ece79c8570f9727d800147688bd69	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name \\"Lamp 4\\" :colour \\"red 4\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 4","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 4","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"2960845c-897d-4947-b35b-5fbf34f80e34","Label":"Lamp 4","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"934fbcb39bc634e746053f16e6bc839eaa5ae67047c1f118a6596560b318b184","Done":true,"First":1,"ID":"934f-bcb3-9bc6-34e7-4605-3f16-e6bc-839e","Last":1}	f	2026-11-30 16:13:19.261668+00	5	5e2e230abd36fb2d225aedb2bf20be97179f83600fb6b426b4c55bb640318606	\N
7eaaf2c4c875b52da54f1590368cda4283893a4acd991920c10cd5f3d9051b73	clara	4339d85ab9c5620ad05c925764f278feaa79c315bd767cae36a047487bd897b6	041a0790b21d9061a7782c322efed4f66c87912d1f3d6123476f41259c0ac1f0	{"v":1,"Calls":[{"Call":"shelf.add-item :box-id @attic~eqsms1jjynk58fp9 :name \\"Lamp 5\\" :colour \\"red 5\\"","Place":{"Column":1,"Line":1,"Source":"-"},"Rows":[{"Entity":"item","Fields":[{"After":"clara","Column":"owner","Field":"owner","From":"principal"},{"After":"510b1d1a-e0a9-42c3-b1f2-a4283376516d","AfterName":"@attic","Column":"box","Field":"box","From":":box-id","Kind":"uuid","Origin":"script"},{"After":"Lamp 5","Column":"name","Field":"name","From":":name","Origin":"script"},{"After":"red 5","Column":"colour","Field":"colour","From":":colour","Origin":"script"}],"Key":"f8c7125c-4f18-4099-a303-a62990fc5c31","Label":"Lamp 5","Name":"new","Op":"insert","Table":"item"}],"Seq":1,"Verb":"shelf.add-item"}],"Digest":"b8c47687161f5dc86e7b99849bb2e4658100d67aa4ef12a9961123d97d7b21aa","Done":true,"First":1,"ID":"b8c4-7687-161f-5dc8-6e7b-9984-9bb2-e465","Last":1}	f	2026-11-30 16:13:19.357703+00	6	913788ec45340f8f05772f61792a52ca2828d2367f537e939da2fa26468917ee	\N
\.
COPY verbatim.links (key, principal, browser, good_until, verbatim_origins) FROM stdin;
\.
COPY verbatim.logins (key, principal, how, proven_at, seen_at, verbatim_origins) FROM stdin;
\.
COPY verbatim.openings (key, principal, committed, verbatim_origins) FROM stdin;
\.
COPY verbatim.peer_keys (id, seed, made_at, verbatim_origins) FROM stdin;
\.
COPY verbatim.peer_messages (key, principal, sum, task, context, said_at, verbatim_origins) FROM stdin;
\.
COPY verbatim.peer_pushes (key, principal, task, id, row_key, by_token, url, token, scheme, credentials, told, ended, made_at, verbatim_origins) FROM stdin;
\.
COPY verbatim.questions (key, session, preview, asked_at, good_until, put_at_turn, put_after, before_turn, source, script, origins, first_put_at_turn, about, verbatim_root, verbatim_origins) FROM stdin;
\.
COPY verbatim.sessions (key, principal, name, zone, language, set_values, started, last_active, visits, turns, version, verbatim_origins) FROM stdin;
\.
COPY verbatim.tallies (key, principal, name, amount, changed, verbatim_origins) FROM stdin;
\.
COPY verbatim.trail (id, entry, is_first, "time", principal, verb, entity, row_key, verbatim_origins) FROM stdin;
\.
COPY verbatim.turns (key, session, number, said_at, role, content, about, entries, first_entry, via, verbatim_root, verbatim_origins) FROM stdin;
\.
COPY verbatim.uploads (id, owner, name, media_type, size, sum, content, verdict, scanner, uploaded_at, expires, used_by, used_at, named_by, verbatim_origins) FROM stdin;
\.
COPY verbatim.uses (key, verb, times, counts_until, verbatim_origins) FROM stdin;
\.
COPY verbatim_river.river_job (id, state, attempt, max_attempts, attempted_at, created_at, finalized_at, scheduled_at, priority, args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states) FROM stdin;
\.
COPY verbatim_river.river_leader (elected_at, expires_at, leader_id, name) FROM stdin;
\.
COPY verbatim_river.river_migration (line, version, created_at) FROM stdin;
main	1	2026-11-30 16:13:18.223103+00
main	2	2026-11-30 16:13:18.223103+00
main	3	2026-11-30 16:13:18.223103+00
main	4	2026-11-30 16:13:18.223103+00
main	5	2026-11-30 16:13:18.223103+00
main	6	2026-11-30 16:13:18.223103+00
main	7	2026-11-30 16:13:18.223103+00
main	8	2026-11-30 16:13:18.223103+00
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
ALTER TABLE ONLY system.standing_rules
    ADD CONSTRAINT standing_rules_pkey PRIMARY KEY (rule_id);
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
ALTER TABLE ONLY verbatim.peer_keys
    ADD CONSTRAINT peer_keys_pkey PRIMARY KEY (id);
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
ALTER TABLE ONLY verbatim.trail
    ADD CONSTRAINT trail_pkey PRIMARY KEY (id);
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
CREATE INDEX box_owner_idx1 ON public.box USING btree (owner) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX item_box_idx ON public.item USING btree (box);
CREATE INDEX item_owner_idx ON public.item USING btree (owner);
CREATE INDEX item_owner_idx1 ON public.item USING btree (owner) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX verbatim_name_row ON public.verbatim_name USING btree (table_name, row_key);
CREATE INDEX verbatim_name_suffix ON public.verbatim_name USING btree (table_name, suffix);
CREATE UNIQUE INDEX holds_principal_entity_held_key ON system.holds USING btree (principal, entity, held);
CREATE INDEX holds_verbatim_root_idx ON system.holds USING btree (verbatim_root);
CREATE INDEX holds_verbatim_root_idx1 ON system.holds USING btree (verbatim_root) WHERE (verbatim_origins IS NOT NULL);
CREATE UNIQUE INDEX identities_issuer_known_by_principal_key ON system.identities USING btree (issuer, known_by, principal);
CREATE INDEX identities_principal_idx ON system.identities USING btree (principal);
CREATE INDEX identities_verbatim_root_idx ON system.identities USING btree (verbatim_root);
CREATE INDEX identities_verbatim_root_idx1 ON system.identities USING btree (verbatim_root) WHERE (verbatim_origins IS NOT NULL);
CREATE UNIQUE INDEX principals_principal_id_realm_key ON system.principals USING btree (principal_id, realm);
CREATE INDEX principals_realm_idx ON system.principals USING btree (realm) WHERE (verbatim_origins IS NOT NULL);
CREATE UNIQUE INDEX principals_realm_name_key ON system.principals USING btree (realm, name);
CREATE INDEX realms_realm_idx ON system.realms USING btree (realm) WHERE (verbatim_origins IS NOT NULL);
CREATE UNIQUE INDEX roles_principal_role_key ON system.roles USING btree (principal, role);
CREATE INDEX roles_verbatim_root_idx ON system.roles USING btree (verbatim_root);
CREATE INDEX roles_verbatim_root_idx1 ON system.roles USING btree (verbatim_root) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX standing_rules_owner_idx ON system.standing_rules USING btree (owner) WHERE (verbatim_origins IS NOT NULL);
CREATE UNIQUE INDEX standing_rules_owner_name_key ON system.standing_rules USING btree (owner, name);
CREATE INDEX tokens_digest_idx ON system.tokens USING btree (digest);
CREATE UNIQUE INDEX tokens_principal_name_key ON system.tokens USING btree (principal, name);
CREATE INDEX tokens_verbatim_root_idx ON system.tokens USING btree (verbatim_root);
CREATE INDEX tokens_verbatim_root_idx1 ON system.tokens USING btree (verbatim_root) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX attempts_first_entry_idx ON verbatim.attempts USING btree (first_entry);
CREATE INDEX attempts_key_idx ON verbatim.attempts USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX attempts_same_calls_settled_at_idx ON verbatim.attempts USING btree (same_calls, settled_at);
CREATE INDEX confirmations_asker_digest_idx ON verbatim.confirmations USING btree (asker, digest);
CREATE INDEX confirmations_asker_id_idx ON verbatim.confirmations USING btree (asker, id);
CREATE INDEX confirmations_key_idx ON verbatim.confirmations USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX confirmations_short_id_idx ON verbatim.confirmations USING btree (short_id);
CREATE INDEX confirmations_status_asked_at_idx ON verbatim.confirmations USING btree (status, asked_at);
CREATE INDEX contents_sum_idx ON verbatim.contents USING btree (sum) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX deliveries_key_idx ON verbatim.deliveries USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX deliveries_same_calls_done_at_idx ON verbatim.deliveries USING btree (same_calls, done_at);
CREATE INDEX links_key_idx ON verbatim.links USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX logins_key_idx ON verbatim.logins USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX openings_principal_idx ON verbatim.openings USING btree (principal);
CREATE INDEX openings_principal_idx1 ON verbatim.openings USING btree (principal) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX peer_keys_id_idx ON verbatim.peer_keys USING btree (id) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX peer_messages_key_idx ON verbatim.peer_messages USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX peer_pushes_key_idx ON verbatim.peer_pushes USING btree (key) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX questions_session_idx ON verbatim.questions USING btree (session);
CREATE INDEX questions_verbatim_root_idx ON verbatim.questions USING btree (verbatim_root);
CREATE INDEX questions_verbatim_root_idx1 ON verbatim.questions USING btree (verbatim_root) WHERE (verbatim_origins IS NOT NULL);
CREATE UNIQUE INDEX sessions_key_principal_key ON verbatim.sessions USING btree (key, principal);
CREATE INDEX sessions_principal_idx ON verbatim.sessions USING btree (principal);
CREATE INDEX sessions_principal_idx1 ON verbatim.sessions USING btree (principal) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX tallies_principal_idx ON verbatim.tallies USING btree (principal);
CREATE INDEX tallies_principal_idx1 ON verbatim.tallies USING btree (principal) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX trail_entry_id_idx ON verbatim.trail USING btree (entry, id);
CREATE INDEX trail_id_idx ON verbatim.trail USING btree (id) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX trail_is_first_entry_id_idx ON verbatim.trail USING btree (is_first, entry, id);
CREATE INDEX trail_principal_is_first_entry_id_idx ON verbatim.trail USING btree (principal, is_first, entry, id);
CREATE INDEX trail_row_key_entity_entry_id_idx ON verbatim.trail USING btree (row_key, entity, entry, id);
CREATE INDEX trail_time_idx ON verbatim.trail USING btree ("time");
CREATE INDEX trail_verb_is_first_entry_id_idx ON verbatim.trail USING btree (verb, is_first, entry, id);
CREATE UNIQUE INDEX turns_session_number_key ON verbatim.turns USING btree (session, number);
CREATE UNIQUE INDEX turns_session_via_key ON verbatim.turns USING btree (session, via);
CREATE INDEX turns_verbatim_root_idx ON verbatim.turns USING btree (verbatim_root);
CREATE INDEX turns_verbatim_root_idx1 ON verbatim.turns USING btree (verbatim_root) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX uploads_content_idx ON verbatim.uploads USING btree (content);
CREATE INDEX uploads_owner_idx ON verbatim.uploads USING btree (owner);
CREATE INDEX uploads_owner_idx1 ON verbatim.uploads USING btree (owner) WHERE (verbatim_origins IS NOT NULL);
CREATE INDEX uses_key_idx ON verbatim.uses USING btree (key) WHERE (verbatim_origins IS NOT NULL);
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
ALTER TABLE system.standing_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE system.tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY verbatim_open ON system.holds USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.identities USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.principals USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.realms USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.roles USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.standing_rules USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON system.tokens USING (true) WITH CHECK (true);
CREATE POLICY verbatim_scope_227832fdbb2b ON system.realms AS RESTRICTIVE USING (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_253a9677d89b ON system.holds AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_6678e900eece ON system.tokens AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_726a8d7b9d63 ON system.roles AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_c8cf2c34d552 ON system.standing_rules AS RESTRICTIVE USING (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_e32f270b641c ON system.principals AS RESTRICTIVE USING (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((realm = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_eb28f20e5a9a ON system.identities AS RESTRICTIVE USING (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_system_realm_80c70354bef1_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
ALTER TABLE verbatim.attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.confirmations ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.contents ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.links ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.logins ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.openings ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.peer_pushes ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.questions ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.tallies ENABLE ROW LEVEL SECURITY;
ALTER TABLE verbatim.trail ENABLE ROW LEVEL SECURITY;
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
CREATE POLICY verbatim_open ON verbatim.peer_keys USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.peer_messages USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.peer_pushes USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.questions USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.sessions USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.tallies USING (true) WITH CHECK (true);
CREATE POLICY verbatim_open ON verbatim.trail USING (true) WITH CHECK (true);
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
CREATE POLICY verbatim_scope_59e2034ca483 ON verbatim.peer_keys AS RESTRICTIVE USING (((id = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_key_ceaad9e88456_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((id = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_key_ceaad9e88456_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_5d8aa92c7c32 ON verbatim.deliveries AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_delivery_27e20932aa15_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_delivery_27e20932aa15_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_67381d088569 ON verbatim.uploads AS RESTRICTIVE USING (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((owner = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_7072a70d4e53 ON verbatim.peer_messages AS RESTRICTIVE USING (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_message_8e69f9401305_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((key = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_peer_message_8e69f9401305_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_76bd7cb3234b ON verbatim.turns AS RESTRICTIVE USING (((verbatim_root = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((verbatim_root = ( SELECT NULLIF(current_setting('verbatim.principal'::text, true), ''::text) AS "nullif")) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
CREATE POLICY verbatim_scope_7bd52f7d657e ON verbatim.trail AS RESTRICTIVE USING (((id = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_trail_7ce70a29f177_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text))) WITH CHECK (((id = ANY (( SELECT (NULLIF(current_setting('verbatim.holds_verbatim_trail_7ce70a29f177_string'::text, true), ''::text))::text[] AS "nullif")::text[])) OR (current_setting('verbatim.all'::text, true) = 'on'::text)));
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
GRANT SELECT,UPDATE ON TABLE public.verbatim_place TO verbatim_app;
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
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.standing_rules TO verbatim_app;
GRANT SELECT(rule_id) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(owner) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(name) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(verb) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(until) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(row_entity) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(row_key) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(row_name) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT("when") ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT(given_at) ON TABLE system.standing_rules TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE system.tokens TO verbatim_app;
GRANT SELECT(token_id) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(principal) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(name) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(digest) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(audience) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(expires_at) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT("only") ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(origin) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(added_at) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT(verbatim_root) ON TABLE system.tokens TO verbatim_app_queries;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.attempts TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.confirmations TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.contents TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.deliveries TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.links TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.logins TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.openings TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.peer_keys TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.peer_messages TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.peer_pushes TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.questions TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.sessions TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.tallies TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.trail TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.turns TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.uploads TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim.uses TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim_river.river_job TO verbatim_app;
GRANT UPDATE ON SEQUENCE verbatim_river.river_job_id_seq TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim_river.river_leader TO verbatim_app;
GRANT SELECT ON TABLE verbatim_river.river_migration TO verbatim_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verbatim_river.river_queue TO verbatim_app;
