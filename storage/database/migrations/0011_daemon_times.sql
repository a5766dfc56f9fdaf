-- When a daemon on this database last began and stopped, for those who ask while none runs.
CREATE TABLE daemon (
  only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
  started_at INTEGER NOT NULL,
  -- None while it runs, or if it was ended from outside.
  stopped_at INTEGER
) STRICT;
