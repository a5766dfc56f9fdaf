-- Data that should have come and did not: about the service itself, no incident.
CREATE TABLE alarm (
  id           INTEGER PRIMARY KEY,
  cause        TEXT NOT NULL CHECK (cause IN ('no_nightly', 'no_verdict', 'no_delivery',
                                              'no_self_test')),
  since        INTEGER NOT NULL,
  raised_at    INTEGER NOT NULL,
  ended_at     INTEGER,
  issue_number INTEGER
) STRICT;
CREATE UNIQUE INDEX alarm_open_once ON alarm (cause) WHERE ended_at IS NULL;

-- A message is about an incident or about an alarm. SQLite changes no constraint of a table: it is
-- made again.
CREATE TABLE outbox_of_both (
  id           INTEGER PRIMARY KEY,
  key          TEXT NOT NULL UNIQUE CHECK (key <> ''),
  incident_id  INTEGER REFERENCES incident (id),
  alarm_id     INTEGER REFERENCES alarm (id),
  kind         TEXT NOT NULL CHECK (kind IN ('open', 'comment', 'close')),
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  state        TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'dead')),
  tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  not_before   INTEGER NOT NULL,
  issue_number INTEGER,
  last_error   TEXT NOT NULL DEFAULT '',
  failures     INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  CHECK ((incident_id IS NULL) <> (alarm_id IS NULL)),
  CHECK (state <> 'sent' OR issue_number IS NOT NULL)
) STRICT;
INSERT INTO outbox_of_both
SELECT id, key, incident_id, NULL, kind, title, body, digest, state, tries, not_before,
       issue_number, last_error, failures
FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_of_both RENAME TO outbox;
CREATE UNIQUE INDEX outbox_open_once ON outbox (incident_id) WHERE kind = 'open';
CREATE UNIQUE INDEX outbox_alarm_once ON outbox (alarm_id) WHERE kind = 'open';
CREATE INDEX outbox_by_subject ON outbox (incident_id, alarm_id, id);
CREATE INDEX outbox_unsent ON outbox (id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_not_sent ON outbox (id) WHERE state <> 'sent';

-- What is kept of samples that were removed for their age: their number, median, spread (the
-- interquartile range) and the SHA-256 that they had.
CREATE TABLE thinned_sample (
  attempt_id INTEGER NOT NULL REFERENCES result (attempt_id),
  kind       TEXT NOT NULL CHECK (kind IN ('wall_ns', 'device_ns', 'live_bytes', 'heap_bytes')),
  count      INTEGER NOT NULL CHECK (count > 0),
  median     INTEGER NOT NULL,
  spread     INTEGER NOT NULL CHECK (spread >= 0),
  digest     TEXT NOT NULL CHECK (length(digest) = 64),
  UNIQUE (attempt_id, kind)
) STRICT;
ALTER TABLE comparison ADD COLUMN samples_thinned INTEGER NOT NULL DEFAULT 0
  CHECK (samples_thinned IN (0, 1));
CREATE INDEX comparison_to_thin ON comparison (ended_at)
  WHERE ended_at IS NOT NULL AND samples_thinned = 0;
CREATE INDEX attempt_with_output ON attempt (ended_at) WHERE output <> '';
