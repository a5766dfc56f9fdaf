-- Who really asked, whatever name was said: "uid 1000" on this machine, "token ci" over HTTP; empty
-- where it was not stored yet, and where nobody asked.
ALTER TABLE decision ADD COLUMN asked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN revoked_by TEXT NOT NULL DEFAULT '';

-- Everything that was asked for and done.
CREATE TABLE audit (
  id       INTEGER PRIMARY KEY,
  path     TEXT NOT NULL CHECK (path <> ''),
  -- Named in the body alone: a message's key, a token's name; else empty.
  item     TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

-- The incidents of a series are read with its values.
CREATE INDEX incident_series_by_benchmark ON incident_series (benchmark_id, metric);
