-- usable from 6
-- The try that took the lease: the same one, repeated because its answer was lost, takes it again.
ALTER TABLE leases ADD COLUMN attempt text;
