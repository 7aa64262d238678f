-- Everything is kept by owner: the owner is the first column of every key, and a policy lets a transaction see no other.
CREATE TABLE owners (
    owner text PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY
);

CREATE SEQUENCE slots;
CREATE SEQUENCE fences;

-- What stands under an id: reserved at first (no head), a conversation from its creation on, in the trash once deleted.
CREATE TABLE conversations (
    owner text NOT NULL REFERENCES owners,
    slot bigint NOT NULL DEFAULT nextval('slots'),
    id text COLLATE "C" NOT NULL,
    changed_at timestamptz NOT NULL,
    deleted_milliseconds bigint,
    version bigint NOT NULL DEFAULT 0,
    head json, -- all fields but the messages; json keeps what jsonb refuses or rewrites: NUL, numbers, the order of fields
    message_count integer NOT NULL DEFAULT 0,
    size_bytes bigint NOT NULL DEFAULT 0,
    updated_milliseconds bigint NOT NULL DEFAULT 0,
    archived boolean NOT NULL DEFAULT false,
    pending text,
    runs_at_provider boolean NOT NULL DEFAULT false,
    facts json,
    facets text[] NOT NULL DEFAULT '{}',
    imported_from text,
    imported_id text,
    PRIMARY KEY (owner, slot)
);
CREATE UNIQUE INDEX conversations_by_id ON conversations (owner, id) WHERE deleted_milliseconds IS NULL;
CREATE UNIQUE INDEX conversations_in_trash ON conversations (owner, id, deleted_milliseconds)
    WHERE deleted_milliseconds IS NOT NULL;
CREATE INDEX conversations_by_time ON conversations (owner, archived, updated_milliseconds DESC, id DESC)
    WHERE deleted_milliseconds IS NULL AND head IS NOT NULL;

CREATE TABLE messages (
    owner text NOT NULL,
    slot bigint NOT NULL,
    number integer NOT NULL,
    body json NOT NULL,
    PRIMARY KEY (owner, slot, number),
    FOREIGN KEY (owner, slot) REFERENCES conversations ON DELETE CASCADE
);

-- The words of each text; 0 is the number of what is outside of messages. A lexeme begins with the owner's number, so
-- that a search reads the words of one owner only.
CREATE TABLE words (
    owner text NOT NULL,
    slot bigint NOT NULL,
    number integer NOT NULL,
    word_count integer NOT NULL,
    lexemes tsvector NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (owner, slot, number),
    FOREIGN KEY (owner, slot) REFERENCES conversations ON DELETE CASCADE
);
CREATE INDEX words_by_lexeme ON words USING gin (lexemes);

CREATE TABLE attachments (
    owner text NOT NULL,
    slot bigint NOT NULL,
    hash text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (owner, slot, hash),
    FOREIGN KEY (owner, slot) REFERENCES conversations ON DELETE CASCADE
);

CREATE TABLE exports (
    owner text NOT NULL,
    slot bigint NOT NULL,
    ending text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (owner, slot, ending),
    FOREIGN KEY (owner, slot) REFERENCES conversations ON DELETE CASCADE
);

CREATE TABLE marks (
    owner text NOT NULL REFERENCES owners,
    mark text NOT NULL,
    PRIMARY KEY (owner, mark)
);

CREATE TABLE calls (
    owner text NOT NULL,
    key text NOT NULL,
    conversation_id text NOT NULL,
    started_at text NOT NULL,
    is_told boolean NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (owner, key)
);
CREATE INDEX calls_by_conversation ON calls (owner, conversation_id);

CREATE TABLE stops (
    owner text NOT NULL,
    conversation_id text NOT NULL,
    started_at text NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (owner, conversation_id)
);

-- Who holds a turn, the name of a call or the imports. `fence` rises with each holder; times are the database's own.
CREATE TABLE leases (
    owner text NOT NULL,
    name text NOT NULL,
    fence bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (owner, name)
);

-- How often an owner may do what: the tokens that were left at a time.
CREATE TABLE buckets (
    owner text NOT NULL,
    name text NOT NULL,
    tokens double precision NOT NULL,
    at double precision NOT NULL,
    PRIMARY KEY (owner, name)
);

-- A second wall behind the WHERE of every statement; it stops even the owner of the tables, though not a superuser.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'messages', 'words', 'attachments', 'exports', 'marks', 'calls', 'stops',
        'leases', 'buckets'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_owner ON %I USING (owner = current_setting(''conversation_mcp.owner'', true))', name);
    END LOOP;
END $$;

-- The owners who have or have reserved an id; the policy shows one owner at a time.
CREATE FUNCTION owners_of(wanted text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    known record;
BEGIN
    FOR known IN SELECT o.owner FROM owners o LOOP
        PERFORM set_config('conversation_mcp.owner', known.owner, true);
        IF EXISTS (
            SELECT 1 FROM conversations c
            WHERE c.owner = known.owner AND c.id = wanted AND c.deleted_milliseconds IS NULL
        ) THEN
            RETURN NEXT known.owner;
        END IF;
    END LOOP;
END $$;
