-- The nights of a kind in their order: nightlies before one, self-tests so far.
CREATE INDEX night_by_kind ON night (kind, id);

-- What a night has to say beside its verdicts, as its reader is told; empty until it is judged.
ALTER TABLE night ADD COLUMN summary_json TEXT NOT NULL DEFAULT '';

-- A change that somebody takes as it is: later nights measure from the build that brought it.
CREATE TABLE acceptance (
  incident_id INTEGER PRIMARY KEY REFERENCES incident (id),
  accepted_by TEXT NOT NULL CHECK (accepted_by <> ''),
  reason      TEXT NOT NULL CHECK (reason <> ''),
  accepted_at INTEGER NOT NULL
) STRICT;
