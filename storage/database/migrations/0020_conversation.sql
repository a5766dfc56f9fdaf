-- What came from the issue tracker: by a webhook, or seen by polling. It is worked off later.
CREATE TABLE received (
  id          INTEGER PRIMARY KEY,
  -- The webhook's own id, or what polling saw: each is taken once.
  delivery    TEXT NOT NULL UNIQUE CHECK (delivery <> ''),
  kind        TEXT NOT NULL CHECK (kind IN ('issue', 'comment')),
  action      TEXT NOT NULL CHECK (action <> ''),
  issue       INTEGER NOT NULL CHECK (issue > 0),
  body_json   TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('pending', 'done', 'refused', 'failed')),
  -- What it came to, in a sentence.
  result      TEXT NOT NULL DEFAULT '',
  -- What it waits for while it is pending: how often its own work failed, how often it was put off.
  tries       INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  setbacks    INTEGER NOT NULL DEFAULT 0 CHECK (setbacks >= 0),
  not_before  INTEGER NOT NULL DEFAULT 0,
  error       TEXT NOT NULL DEFAULT '',
  -- Being worked on: found so at a start, it took the service down.
  under_way   INTEGER NOT NULL DEFAULT 0 CHECK (under_way IN (0, 1)),
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX received_pending ON received (id) WHERE state = 'pending';

-- What was done to issues of ours, by people and by programs; each is read back once.
CREATE TABLE tracker_event (
  -- The tracker's own.
  id          INTEGER PRIMARY KEY,
  incident_id INTEGER NOT NULL REFERENCES incident (id),
  event       TEXT NOT NULL CHECK (event <> ''),
  -- Empty: the tracker does not say.
  login       TEXT NOT NULL,
  detail      TEXT NOT NULL,
  happened_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tracker_event_by_incident ON tracker_event (incident_id, id);

-- Comments with commands. Each is answered once, by one reply.
CREATE TABLE command (
  -- The tracker's id of the comment.
  comment       INTEGER PRIMARY KEY,
  issue         INTEGER NOT NULL CHECK (issue > 0),
  incident_id   INTEGER REFERENCES incident (id),
  login         TEXT NOT NULL CHECK (login <> ''),
  login_id      INTEGER NOT NULL,
  name          TEXT NOT NULL CHECK (name <> ''),
  state         TEXT NOT NULL CHECK (state IN ('waiting', 'ended', 'refused')),
  -- What it asked for. The table of requests is made again whenever they get a new kind, so that
  -- nothing refers to it by a constraint.
  request_id    INTEGER,
  comparison_id INTEGER REFERENCES comparison (id),
  bisection_id  INTEGER REFERENCES bisection (id),
  -- What the reply says now, and how many messages said so far.
  said          TEXT NOT NULL DEFAULT '',
  replies       INTEGER NOT NULL DEFAULT 0 CHECK (replies >= 0),
  asked_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX command_waiting ON command (comment) WHERE state = 'waiting';
CREATE INDEX command_by_time ON command (asked_at);
CREATE INDEX command_by_issue ON command (issue, name);

-- Series of which no incident is opened until a date.
CREATE TABLE mute (
  id       INTEGER PRIMARY KEY,
  -- WORKLOAD/CONFIGURATION/VARIANT/METRIC; what is left out, or *, is any.
  target   TEXT NOT NULL CHECK (target <> ''),
  until    INTEGER NOT NULL,
  made_by  TEXT NOT NULL CHECK (made_by <> ''),
  reason   TEXT NOT NULL CHECK (reason <> ''),
  asked_by TEXT NOT NULL,
  made_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX mute_until ON mute (until);

-- Up to when the tracker's lists were read, and what it calls the newest answer.
CREATE TABLE poll (
  list  TEXT PRIMARY KEY CHECK (list IN ('issues', 'comments')),
  since INTEGER NOT NULL,
  etag  TEXT NOT NULL DEFAULT ''
) STRICT;

-- Why nothing more is sent to the incident's issue: it was deleted, or moved elsewhere.
ALTER TABLE incident ADD COLUMN issue_gone TEXT NOT NULL DEFAULT '';
CREATE INDEX incident_by_issue ON incident (issue_number) WHERE issue_number IS NOT NULL;
