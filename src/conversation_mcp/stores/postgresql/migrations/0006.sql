-- Words of memories are no longer marked as their owner's: no index has them any more. All memories are made anew from
-- their conversations, those too that were stored before there were rows of them.
TRUNCATE memories;
ALTER TABLE owners DROP COLUMN number;
