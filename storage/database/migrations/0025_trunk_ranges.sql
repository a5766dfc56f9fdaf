-- How many commits between the builds of a comparison can change the library. That takes the diff of
-- each commit, so it is found once, when the comparison is prepared. Without a row it is not known.
CREATE TABLE trunk_range (
  comparison_id INTEGER PRIMARY KEY REFERENCES comparison (id),
  can_matter    INTEGER NOT NULL CHECK (can_matter >= 0)
) STRICT;
