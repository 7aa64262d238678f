-- usable from 1
-- The audit trail of all owners: lines that are chained by their hashes, and that nothing changes or removes.
CREATE TABLE audit_lines (
    number bigint PRIMARY KEY,
    line text NOT NULL
);

-- Only transactions of the trail itself see it; the name of no owner begins with a space.
ALTER TABLE audit_lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_lines FORCE ROW LEVEL SECURITY;
CREATE POLICY of_trail ON audit_lines USING (current_setting('conversation_mcp.owner', true) = ' audit');

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'lines of the audit trail are only added';
END $$;
CREATE TRIGGER only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_lines
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
