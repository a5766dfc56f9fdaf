-- What a process works on, the outermost item first. Rows that are left at a start are those of a
-- process that died: the last of them is what it worked on then.
CREATE TABLE work_under_way (
  id   INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('build', 'comparison', 'bisection', 'request')),
  item TEXT NOT NULL CHECK (item <> '')
) STRICT;
