-- usable from 6
-- The words of memories, each with the places where it is: a memory that says nearly the same as another one is found by
-- the rarest words that they share, and no other is read. An index of the lexemes would be of no use, as a condition on
-- these is none for an index as long as a policy hides other owners' rows; one that two texts are equal is.
CREATE TABLE memory_words (
    owner text NOT NULL,
    word text COLLATE "C" NOT NULL,
    slot bigint NOT NULL,
    number integer NOT NULL,
    PRIMARY KEY (owner, word, slot, number)
);

ALTER TABLE memory_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_words FORCE ROW LEVEL SECURITY;
CREATE POLICY of_owner ON memory_words USING (owner = current_setting('conversation_mcp.owner', true));

CREATE FUNCTION note_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'UPDATE' AND (new.slot, new.number, new.lexemes) = (old.slot, old.number, old.lexemes) THEN
        RETURN NULL; -- as when only its metadata has changed
    END IF;
    IF tg_op <> 'INSERT' THEN
        DELETE FROM memory_words WHERE owner = old.owner AND word = ANY (tsvector_to_array(old.lexemes))
            AND slot = old.slot AND number = old.number;
    END IF;
    IF tg_op <> 'DELETE' THEN
        INSERT INTO memory_words (owner, word, slot, number)
        SELECT new.owner, word, new.slot, new.number FROM unnest(tsvector_to_array(new.lexemes)) AS word;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_words AFTER INSERT OR DELETE OR UPDATE OF lexemes ON memories
    FOR EACH ROW EXECUTE FUNCTION note_words();

DO $$
DECLARE each text;
BEGIN
    FOR each IN SELECT owner FROM owners LOOP
        PERFORM set_config('conversation_mcp.owner', each, true);
        INSERT INTO memory_words (owner, word, slot, number)
        SELECT owner, unnest(tsvector_to_array(lexemes)), slot, number FROM memories WHERE owner = each;
    END LOOP;
END $$;
