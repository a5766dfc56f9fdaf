-- What an item of work that has not ended waits for: nothing of one item stops another.
CREATE TABLE setback (
  kind       TEXT NOT NULL CHECK (kind IN ('channel', 'build', 'comparison', 'bisection',
                                           'request')),
  -- The item's id, or its name where it has none.
  item       TEXT NOT NULL CHECK (item <> ''),
  -- How often the item's own work failed.
  tries      INTEGER NOT NULL CHECK (tries >= 0),
  -- How often it was tried since, for whatever reason; the pauses grow with it.
  setbacks   INTEGER NOT NULL CHECK (setbacks > 0),
  since      INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  error      TEXT NOT NULL CHECK (error <> ''),
  UNIQUE (kind, item)
) STRICT;

-- A request may be refused or cancelled; SQLite changes no CHECK of a table: it is made again.
CREATE TABLE request_with_all_ends (
  id          INTEGER PRIMARY KEY,
  delivery    TEXT NOT NULL UNIQUE CHECK (delivery <> ''),
  kind        TEXT NOT NULL CHECK (kind IN ('nightly', 'bisection')),
  state       TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'refused', 'failed',
                                             'cancelled')),
  body_json   TEXT NOT NULL,
  result_json TEXT NOT NULL DEFAULT '',
  -- The user on this machine who asked over the control socket; none for one over TCP.
  asked_by    INTEGER,
  created_at  INTEGER NOT NULL
) STRICT;
INSERT INTO request_with_all_ends
SELECT id, delivery, kind, state, body_json, result_json, NULL, created_at FROM request;
DROP TABLE request;
ALTER TABLE request_with_all_ends RENAME TO request;
CREATE INDEX request_pending ON request (id) WHERE state = 'pending';
CREATE INDEX request_running ON request (id) WHERE state = 'running';

-- How often a message's delivery failed in a row, for whatever reason: the pauses grow with it.
-- `tries` counts what was the message's own fault.
ALTER TABLE outbox ADD COLUMN failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0);
CREATE INDEX outbox_not_sent ON outbox (id) WHERE state <> 'sent';
UPDATE outbox SET tries = 0 WHERE state IN ('pending', 'sending');

-- Why a build that is at hand cannot be measured: no runner compiles with it, or its files are gone.
ALTER TABLE build ADD COLUMN unusable TEXT NOT NULL DEFAULT '';
