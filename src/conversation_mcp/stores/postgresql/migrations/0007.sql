-- usable from 6
-- Nothing has read the lexemes of words since version 5.
DO $$ BEGIN
    EXECUTE replace(pg_get_functiondef('write_conversation'::regproc), 'lexemes = NULL, ', '');
END $$;
ALTER TABLE words DROP COLUMN lexemes;
