-- usable from 1
-- For how long the conversations of the owner are kept, as 90d; null if nothing is said.
ALTER TABLE owners ADD COLUMN keep text;
