-- What is remembered with a conversation, as searches see it. No index has its lexemes: none could be used, because a
-- condition on words is no condition for an index as long as a policy hides other owners' rows.
CREATE TABLE memories (
    owner text NOT NULL,
    slot bigint NOT NULL,
    number integer NOT NULL, -- in the order of the conversation, with gaps where one was forgotten
    id text COLLATE "C" NOT NULL,
    same text NOT NULL, -- the hash that the same texts have in common
    created_milliseconds bigint NOT NULL,
    tags text[] NOT NULL,
    lexemes tsvector NOT NULL,
    facts json NOT NULL,
    PRIMARY KEY (owner, slot, number),
    FOREIGN KEY (owner, slot) REFERENCES conversations ON DELETE CASCADE
);
CREATE INDEX memories_by_text ON memories (owner, same);
CREATE INDEX memories_by_time ON memories (owner, created_milliseconds DESC);

ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY of_owner ON memories USING (owner = current_setting('conversation_mcp.owner', true));
