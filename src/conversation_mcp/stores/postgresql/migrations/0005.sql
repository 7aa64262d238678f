-- usable from 3
-- Words are found by their lines alone. No search could use the index of their lexemes: a condition on words is no
-- condition for an index as long as a policy hides other owners' rows. Programs of the version before this one do not
-- find messages that are written without lexemes.
DROP INDEX words_by_lexeme;
ALTER TABLE words ALTER COLUMN lexemes DROP NOT NULL;

-- What a change of a conversation writes, in one statement that can be a transaction of its own: nothing, and `changed`,
-- if somebody has written since it was seen, or `lost` if the turn is in other hands by now; else `written`.
CREATE FUNCTION write_conversation(
    of_owner text, commits text, of_slot bigint, seen_version bigint, turn text, held_fence bigint,
    new_changed_at timestamptz, new_head json, new_message_count integer, new_size_bytes bigint,
    new_updated_milliseconds bigint, new_archived boolean, new_pending text, new_runs_at_provider boolean, new_facts json,
    new_facets text[], new_imported_from text, new_imported_id text,
    is_shorter boolean, message_numbers integer[], bodies text[],
    text_numbers integer[], word_counts integer[], lines text[], without_text integer[]
) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('conversation_mcp.owner', of_owner, true), set_config('synchronous_commit', commits, true);
    IF held_fence IS NOT NULL THEN
        PERFORM 1 FROM leases WHERE owner = of_owner AND name = turn AND fence = held_fence FOR SHARE;
        IF NOT FOUND THEN
            RETURN 'lost';
        END IF;
    END IF;
    UPDATE conversations SET version = version + 1, changed_at = new_changed_at, head = new_head,
        message_count = new_message_count, size_bytes = new_size_bytes, updated_milliseconds = new_updated_milliseconds,
        archived = new_archived, pending = new_pending, runs_at_provider = new_runs_at_provider, facts = new_facts,
        facets = new_facets, imported_from = new_imported_from, imported_id = new_imported_id
    WHERE owner = of_owner AND slot = of_slot AND version = seen_version AND deleted_milliseconds IS NULL;
    IF NOT FOUND THEN
        RETURN 'changed';
    END IF;
    IF is_shorter THEN
        DELETE FROM messages WHERE owner = of_owner AND slot = of_slot AND number > new_message_count;
        DELETE FROM words WHERE owner = of_owner AND slot = of_slot AND number > new_message_count;
    END IF;
    IF cardinality(message_numbers) > 0 THEN
        INSERT INTO messages (owner, slot, number, body)
        SELECT of_owner, of_slot, m.number, m.body::json FROM unnest(message_numbers, bodies) AS m (number, body)
        ON CONFLICT (owner, slot, number) DO UPDATE SET body = excluded.body;
    END IF;
    IF cardinality(without_text) > 0 THEN
        DELETE FROM words WHERE owner = of_owner AND slot = of_slot AND number = ANY (without_text);
    END IF;
    IF cardinality(text_numbers) > 0 THEN
        INSERT INTO words (owner, slot, number, word_count, line)
        SELECT of_owner, of_slot, t.number, t.word_count, t.line
        FROM unnest(text_numbers, word_counts, lines) AS t (number, word_count, line)
        ON CONFLICT (owner, slot, number)
        DO UPDATE SET word_count = excluded.word_count, lexemes = NULL, line = excluded.line;
    END IF;
    RETURN 'written';
END $$;
