-- What each operator takes of an iteration, by the profile runs of an incident's builds.
CREATE TABLE operator_figure (
  attempt_id      INTEGER NOT NULL REFERENCES result (attempt_id),
  name            TEXT NOT NULL CHECK (name <> ''),
  calls           INTEGER NOT NULL CHECK (calls >= 0),
  self_ns         INTEGER NOT NULL CHECK (self_ns >= 0),
  allocated_bytes INTEGER NOT NULL CHECK (allocated_bytes >= 0),
  kept_bytes      INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, name)
) STRICT, WITHOUT ROWID;
