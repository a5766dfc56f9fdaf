-- A message may go elsewhere than to the issue of an incident or an alarm: to a pull request, a
-- commit, a comment, another service. `target` names where; messages of one target keep their order.
-- `answer` keeps what an edit of it needs later. SQLite changes no constraint of a table: it is made
-- again, with what belongs to it.
CREATE TABLE outbox_with_targets (
  id           INTEGER PRIMARY KEY,
  key          TEXT NOT NULL UNIQUE CHECK (key <> ''),
  incident_id  INTEGER REFERENCES incident (id),
  alarm_id     INTEGER REFERENCES alarm (id),
  kind         TEXT NOT NULL CHECK (kind IN ('open', 'comment', 'close', 'reopen', 'edit',
                                             'umbrella', 'digest', 'reply', 'pull_comment',
                                             'status', 'check', 'dispatch', 'webhook', 'mail')),
  -- Empty: the issue of its incident or alarm.
  target       TEXT NOT NULL DEFAULT '',
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  state        TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'dead')),
  tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  not_before   INTEGER NOT NULL,
  issue_number INTEGER,
  answer       TEXT NOT NULL DEFAULT '',
  last_error   TEXT NOT NULL DEFAULT '',
  failures     INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  sent_at      INTEGER,
  CHECK (incident_id IS NULL OR alarm_id IS NULL),
  CHECK (target <> '' OR incident_id IS NOT NULL OR alarm_id IS NOT NULL),
  CHECK (state <> 'sent' OR issue_number IS NOT NULL OR target <> '')
) STRICT;
INSERT INTO outbox_with_targets
SELECT id, key, incident_id, alarm_id, kind, '', title, body, digest, state, tries, not_before,
       issue_number, '', last_error, failures, sent_at
FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_with_targets RENAME TO outbox;
CREATE UNIQUE INDEX outbox_open_once ON outbox (incident_id) WHERE kind = 'open';
CREATE UNIQUE INDEX outbox_alarm_once ON outbox (alarm_id) WHERE kind = 'open';
CREATE INDEX outbox_by_subject ON outbox (incident_id, alarm_id, target, id);
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
