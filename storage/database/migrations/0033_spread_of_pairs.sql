-- How much one pair's ratio scatters, of verdicts on pairs: a search knows it before it measures.
-- 0 where it is not known: other verdicts, and those of earlier versions.
ALTER TABLE verdict ADD COLUMN pair_spread REAL NOT NULL DEFAULT 0 CHECK (pair_spread >= 0);
