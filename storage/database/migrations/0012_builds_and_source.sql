-- What a package index said of the file behind a build when it was fetched or rejected: a rejected
-- file is not fetched again before the index says that it changed, and one that was replaced is.
ALTER TABLE build ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';

-- The clone of [source] waits for its server as the channel does. SQLite changes no CHECK of a
-- table: it is made again.
CREATE TABLE setback_of_every_kind (
  kind       TEXT NOT NULL CHECK (kind IN ('channel', 'build', 'comparison', 'bisection',
                                           'request', 'source')),
  item       TEXT NOT NULL CHECK (item <> ''),
  tries      INTEGER NOT NULL CHECK (tries >= 0),
  setbacks   INTEGER NOT NULL CHECK (setbacks > 0),
  since      INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  error      TEXT NOT NULL CHECK (error <> ''),
  UNIQUE (kind, item)
) STRICT;
INSERT INTO setback_of_every_kind SELECT * FROM setback;
DROP TABLE setback;
ALTER TABLE setback_of_every_kind RENAME TO setback;

-- The order in which nightlies follow one another: one may arrive late.
ALTER TABLE build ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
UPDATE build SET place = id WHERE origin = 'nightly';
