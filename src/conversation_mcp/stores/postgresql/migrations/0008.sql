-- usable from 6
-- What searches by meaning need, derived from conversations and memories. Each model has vectors of its own.
CREATE TABLE vector_models (
    owner text NOT NULL,
    model bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL, -- turns or memories
    name text NOT NULL,
    choice text NOT NULL, -- the setting that opens the model
    is_whole boolean NOT NULL DEFAULT false,
    PRIMARY KEY (owner, model),
    UNIQUE (owner, kind, name)
);

-- A conversation, by its id, or the text of memories, by its hash, with the state in which its vectors were made.
CREATE TABLE vector_groups (
    owner text NOT NULL,
    model bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    slot bigint, -- of a conversation
    state text,
    PRIMARY KEY (owner, model, name),
    FOREIGN KEY (owner, model) REFERENCES vector_models ON DELETE CASCADE,
    FOREIGN KEY (owner, slot) REFERENCES conversations ON DELETE CASCADE
);
CREATE INDEX vector_groups_by_slot ON vector_groups (owner, slot);

CREATE TABLE vectors (
    owner text NOT NULL,
    model bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    item text NOT NULL,
    digest bytea NOT NULL, -- of the text that the vector was made of
    PRIMARY KEY (owner, model, name, item),
    FOREIGN KEY (owner, model, name) REFERENCES vector_groups ON DELETE CASCADE
);
CREATE INDEX vectors_by_digest ON vectors (owner, model, digest);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['vector_models', 'vector_groups', 'vectors'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_owner ON %I USING (owner = current_setting(''conversation_mcp.owner'', true))', name);
    END LOOP;
END $$;

-- The numbers need the extension vector, which may come later; `database migrate` calls this each time. It does nothing
-- where it cannot be had, and makes a new beginning where it was taken away.
CREATE FUNCTION add_vectors() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = 'vectors'::regclass AND attname = 'numbers' AND NOT attisdropped
    ) THEN
        RETURN;
    END IF;
    BEGIN
        CREATE EXTENSION IF NOT EXISTS vector;
    EXCEPTION WHEN OTHERS THEN
        RETURN;
    END;
    IF to_regtype('halfvec') IS NOT NULL THEN
        TRUNCATE vector_models CASCADE;
        ALTER TABLE vectors ADD COLUMN numbers halfvec NOT NULL;
        ALTER TABLE vectors ALTER COLUMN numbers SET STORAGE MAIN; -- in the row, as every search reads it
    END IF;
END $$;

-- Of the vector that was given with a memory. The rows are made anew once this has run.
TRUNCATE memories;
ALTER TABLE memories ADD COLUMN embedding text;
CREATE INDEX memories_by_embedding ON memories (owner, same, embedding);
DROP INDEX memories_by_text;

-- The vectors of a text go with the last memory that has it.
CREATE FUNCTION forget_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM vector_groups g USING vector_models m
    WHERE m.owner = old.owner AND m.kind = 'memories' AND g.owner = old.owner AND g.model = m.model AND g.name = old.same
        AND NOT EXISTS (SELECT FROM memories other WHERE other.owner = old.owner AND other.same = old.same);
    RETURN NULL;
END $$;
CREATE TRIGGER forget_text AFTER DELETE OR UPDATE OF same ON memories FOR EACH ROW EXECUTE FUNCTION forget_text();
