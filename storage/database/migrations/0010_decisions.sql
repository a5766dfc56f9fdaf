-- What people decided about incidents, and what rechecks did; an acceptance is one of them.
CREATE TABLE decision (
  id          INTEGER PRIMARY KEY,
  incident_id INTEGER NOT NULL REFERENCES incident (id),
  kind        TEXT NOT NULL CHECK (kind IN ('acknowledged', 'accepted', 'closed', 'reopened',
                                            'disputed')),
  -- Empty: nobody; a recheck found the change gone.
  made_by     TEXT NOT NULL,
  reason      TEXT NOT NULL,
  made_at     INTEGER NOT NULL,
  CHECK (made_by <> '' OR kind = 'closed'),
  CHECK (reason <> '' OR kind NOT IN ('accepted', 'disputed'))
) STRICT;
CREATE INDEX decision_by_incident ON decision (incident_id, id);
INSERT INTO decision (incident_id, kind, made_by, reason, made_at)
SELECT incident_id, 'accepted', accepted_by, reason, accepted_at
FROM acceptance ORDER BY accepted_at;
DROP TABLE acceptance;

-- A message may open an issue again. SQLite changes no constraint of a table: it is made again,
-- with what belongs to it.
CREATE TABLE outbox_that_reopens (
  id           INTEGER PRIMARY KEY,
  key          TEXT NOT NULL UNIQUE CHECK (key <> ''),
  incident_id  INTEGER REFERENCES incident (id),
  alarm_id     INTEGER REFERENCES alarm (id),
  kind         TEXT NOT NULL CHECK (kind IN ('open', 'comment', 'close', 'reopen')),
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  state        TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'dead')),
  tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  not_before   INTEGER NOT NULL,
  issue_number INTEGER,
  last_error   TEXT NOT NULL DEFAULT '',
  failures     INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  sent_at      INTEGER,
  CHECK ((incident_id IS NULL) <> (alarm_id IS NULL)),
  CHECK (state <> 'sent' OR issue_number IS NOT NULL)
) STRICT;
INSERT INTO outbox_that_reopens
SELECT id, key, incident_id, alarm_id, kind, title, body, digest, state, tries, not_before,
       issue_number, last_error, failures, sent_at
FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_that_reopens RENAME TO outbox;
CREATE UNIQUE INDEX outbox_open_once ON outbox (incident_id) WHERE kind = 'open';
CREATE UNIQUE INDEX outbox_alarm_once ON outbox (alarm_id) WHERE kind = 'open';
CREATE INDEX outbox_by_subject ON outbox (incident_id, alarm_id, id);
CREATE INDEX outbox_unsent ON outbox (id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_not_sent ON outbox (id) WHERE state <> 'sent';
CREATE INDEX outbox_by_sent_at ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE TRIGGER event_of_new_message AFTER INSERT ON outbox BEGIN
  INSERT INTO event (kind, item, state) VALUES ('message', NEW.key, NEW.state);
END;
CREATE TRIGGER event_of_message AFTER UPDATE OF state ON outbox
WHEN NEW.state <> OLD.state AND NEW.state <> 'sending' BEGIN
  INSERT INTO event (kind, item, state) VALUES ('message', NEW.key, NEW.state);
END;

-- The name of the bearer token that a request came with; empty for one over the control socket.
ALTER TABLE request ADD COLUMN token TEXT NOT NULL DEFAULT '';
