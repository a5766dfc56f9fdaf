-- The first schema. Append-only: a change is a new file, this one is never edited again.
-- Words are the design's; enumerations are spelled as in code and JSON; times are UTC
-- milliseconds and for display only; empty text means "not known yet", NULL "there is none".

-- Who may write: each opening for writing raises the fence, and a transaction of an older opening
-- is refused. The lock file keeps two daemons apart; this row does when somebody deletes that file.
CREATE TABLE writer (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  fence    INTEGER NOT NULL CHECK (fence >= 0),
  holder   TEXT NOT NULL
) STRICT;
INSERT INTO writer (only_row, fence, holder) VALUES (1, 0, '');

CREATE TABLE build (
  id              INTEGER PRIMARY KEY,
  origin          TEXT NOT NULL CHECK (origin IN ('nightly', 'commit', 'folder', 'release')),
  name            TEXT NOT NULL CHECK (name <> ''),
  version         TEXT NOT NULL DEFAULT '',
  embedded_commit TEXT NOT NULL DEFAULT '',
  trunk_commit    TEXT NOT NULL DEFAULT '',
  content_hash    TEXT NOT NULL DEFAULT '',
  folder          TEXT NOT NULL DEFAULT '',
  state           TEXT NOT NULL CHECK (state IN ('discovered', 'ready', 'rejected')),
  reason          TEXT NOT NULL DEFAULT '',
  UNIQUE (origin, name, content_hash),
  CHECK (state <> 'ready' OR (content_hash <> '' AND folder <> '')),
  CHECK (state <> 'rejected' OR reason <> '')
) STRICT;

CREATE TABLE night (
  id           INTEGER PRIMARY KEY,
  kind         TEXT NOT NULL CHECK (kind IN ('nightly', 'compare', 'self_test')),
  candidate_id INTEGER NOT NULL REFERENCES build (id),
  baseline_id  INTEGER REFERENCES build (id),
  repetition   INTEGER NOT NULL CHECK (repetition >= 0),
  state        TEXT NOT NULL CHECK (state IN ('discovered', 'ready', 'measured', 'judged',
                                              'bisected', 'reported', 'accepted', 'refused')),
  version      INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0),
  plan_json    TEXT NOT NULL DEFAULT '',
  reason       TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  CHECK (kind <> 'nightly' OR repetition = 0),
  CHECK ((state IN ('reported', 'accepted', 'refused')) = (ended_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX night_once ON night (kind, candidate_id, ifnull(baseline_id, 0), repetition);
CREATE INDEX night_unfinished ON night (id) WHERE ended_at IS NULL;

-- A workload in one configuration and variant; with a metric it is a target.
CREATE TABLE cell (
  id            INTEGER PRIMARY KEY,
  workload      TEXT NOT NULL CHECK (workload <> ''),
  configuration TEXT NOT NULL CHECK (configuration IN ('cpu-train', 'cpu-infer',
                                                       'cuda-train', 'cuda-infer')),
  variant       TEXT NOT NULL CHECK (variant <> ''),
  UNIQUE (workload, configuration, variant)
) STRICT;

CREATE TABLE verdict (
  id               INTEGER PRIMARY KEY,
  night_id         INTEGER NOT NULL REFERENCES night (id),
  cell_id          INTEGER NOT NULL REFERENCES cell (id),
  metric           TEXT NOT NULL CHECK (metric <> ''),
  verdict          TEXT NOT NULL CHECK (verdict IN ('unchanged', 'regressed', 'improved',
                                                    'inconclusive', 'unsupported', 'failed')),
  ratio            REAL NOT NULL CHECK (ratio >= 0),
  interval_low     REAL NOT NULL,
  interval_high    REAL NOT NULL,
  baseline_value   REAL NOT NULL,
  candidate_value  REAL NOT NULL,
  baseline_spread  REAL NOT NULL,
  candidate_spread REAL NOT NULL,
  runs             INTEGER NOT NULL CHECK (runs >= 0),
  reason           TEXT NOT NULL DEFAULT '',
  UNIQUE (night_id, cell_id, metric),
  CHECK (interval_low <= interval_high)
) STRICT;

CREATE TABLE incident (
  id           INTEGER PRIMARY KEY,
  night_id     INTEGER NOT NULL REFERENCES night (id),
  key          TEXT NOT NULL CHECK (key <> ''),
  kind         TEXT NOT NULL CHECK (kind IN ('regression', 'leak', 'lost')),
  state        TEXT NOT NULL CHECK (state IN ('open', 'acknowledged', 'closed')),
  title        TEXT NOT NULL,
  bisection_id INTEGER REFERENCES bisection (id),
  issue_number INTEGER,
  opened_at    INTEGER NOT NULL,
  closed_at    INTEGER,
  CHECK ((state = 'closed') = (closed_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX incident_open_once ON incident (key) WHERE state <> 'closed';
CREATE INDEX incident_by_night ON incident (night_id);

CREATE TABLE incident_target (
  incident_id     INTEGER NOT NULL REFERENCES incident (id),
  ordinal         INTEGER NOT NULL CHECK (ordinal >= 0),
  cell_id         INTEGER NOT NULL REFERENCES cell (id),
  metric          TEXT NOT NULL CHECK (metric <> ''),
  ratio           REAL NOT NULL CHECK (ratio >= 0),
  interval_low    REAL NOT NULL,
  interval_high   REAL NOT NULL,
  baseline_value  REAL NOT NULL,
  candidate_value REAL NOT NULL,
  PRIMARY KEY (incident_id, ordinal),
  UNIQUE (incident_id, cell_id, metric),
  CHECK (interval_low <= interval_high)
) STRICT, WITHOUT ROWID;

CREATE TABLE bisection (
  id           INTEGER PRIMARY KEY,
  incident_id  INTEGER REFERENCES incident (id),
  state        TEXT NOT NULL CHECK (state IN ('open', 'ended')),
  version      INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0),
  good         TEXT NOT NULL,
  bad          TEXT NOT NULL,
  request_json TEXT NOT NULL,
  answer_json  TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  CHECK ((state = 'ended') = (ended_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX bisection_open_once ON bisection (incident_id)
  WHERE state = 'open' AND incident_id IS NOT NULL;
CREATE INDEX bisection_by_incident ON bisection (incident_id) WHERE incident_id IS NOT NULL;
CREATE INDEX bisection_open ON bisection (id) WHERE state = 'open';

CREATE TABLE bisection_event (
  bisection_id INTEGER NOT NULL REFERENCES bisection (id),
  ordinal      INTEGER NOT NULL CHECK (ordinal >= 0),
  kind         TEXT NOT NULL CHECK (kind <> ''),
  body_json    TEXT NOT NULL,
  UNIQUE (bisection_id, ordinal)
) STRICT;

-- One start of a process, committed before it starts. The token fences its result.
CREATE TABLE attempt (
  id           INTEGER PRIMARY KEY,
  token        TEXT NOT NULL UNIQUE CHECK (token <> ''),
  fence        INTEGER NOT NULL,
  night_id     INTEGER REFERENCES night (id),
  bisection_id INTEGER REFERENCES bisection (id),
  slot         TEXT NOT NULL CHECK (slot <> ''),
  build_id     INTEGER NOT NULL REFERENCES build (id),
  cell_id      INTEGER NOT NULL REFERENCES cell (id),
  pass         TEXT NOT NULL CHECK (pass IN ('timing', 'memory', 'profile', 'coverage')),
  state        TEXT NOT NULL CHECK (state IN ('issued', 'done', 'failed', 'abandoned', 'stale')),
  reason       TEXT NOT NULL DEFAULT '',
  output       TEXT NOT NULL DEFAULT '',
  issued_at    INTEGER NOT NULL,
  ended_at     INTEGER,
  UNIQUE (id, token),
  CHECK ((night_id IS NULL) <> (bisection_id IS NULL)),
  CHECK ((state = 'issued') = (ended_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX attempt_slot_of_night ON attempt (night_id, slot)
  WHERE night_id IS NOT NULL AND state IN ('issued', 'done');
CREATE UNIQUE INDEX attempt_slot_of_bisection ON attempt (bisection_id, slot)
  WHERE bisection_id IS NOT NULL AND state IN ('issued', 'done');
CREATE INDEX attempt_by_night ON attempt (night_id, slot) WHERE night_id IS NOT NULL;
CREATE INDEX attempt_by_bisection ON attempt (bisection_id, slot) WHERE bisection_id IS NOT NULL;
CREATE INDEX attempt_issued ON attempt (id) WHERE state = 'issued';

-- The facts that decide whether runs are comparable, kept once for each distinct set of them.
CREATE TABLE environment (
  id     INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE CHECK (length(digest) = 64)
) STRICT;
CREATE TABLE environment_fact (
  environment_id INTEGER NOT NULL REFERENCES environment (id),
  name           TEXT NOT NULL,
  value          TEXT NOT NULL,
  PRIMARY KEY (environment_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE result (
  attempt_id            INTEGER PRIMARY KEY,
  token                 TEXT NOT NULL UNIQUE,
  status                TEXT NOT NULL CHECK (status IN ('ok', 'unsupported', 'failed')),
  reason                TEXT NOT NULL DEFAULT '',
  environment_id        INTEGER NOT NULL REFERENCES environment (id),
  iterations_per_sample INTEGER NOT NULL CHECK (iterations_per_sample >= 1),
  leak_growth           INTEGER,
  leak_retained         INTEGER,
  active_ns             INTEGER,
  copy_ns               INTEGER,
  idle_ns               INTEGER,
  breakdown_reason      TEXT NOT NULL DEFAULT '',
  FOREIGN KEY (attempt_id, token) REFERENCES attempt (id, token),
  CHECK ((leak_growth IS NULL) = (leak_retained IS NULL)),
  CHECK ((active_ns IS NULL) = (copy_ns IS NULL) AND (active_ns IS NULL) = (idle_ns IS NULL))
) STRICT;

-- A run's value of each metric. Keyed by series, so that a history is one range of this table.
CREATE TABLE value (
  cell_id    INTEGER NOT NULL REFERENCES cell (id),
  metric     TEXT NOT NULL CHECK (metric <> ''),
  attempt_id INTEGER NOT NULL REFERENCES result (attempt_id),
  value      INTEGER NOT NULL,
  PRIMARY KEY (cell_id, metric, attempt_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX value_by_attempt ON value (attempt_id, metric);

-- Every sample: little-endian 64-bit integers, with the SHA-256 that reading checks.
CREATE TABLE sample (
  attempt_id INTEGER NOT NULL REFERENCES result (attempt_id),
  kind       TEXT NOT NULL CHECK (kind IN ('wall_ns', 'device_ns', 'live_bytes')),
  data       BLOB NOT NULL CHECK (length(data) % 8 = 0),
  digest     TEXT NOT NULL CHECK (length(digest) = 64),
  UNIQUE (attempt_id, kind)
) STRICT;

-- What a result says beside its samples: covariates (load, faults) and calls of operators.
CREATE TABLE covariate (
  attempt_id INTEGER NOT NULL REFERENCES result (attempt_id),
  name       TEXT NOT NULL,
  value      INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE operator (
  attempt_id INTEGER NOT NULL REFERENCES result (attempt_id),
  name       TEXT NOT NULL,
  calls      INTEGER NOT NULL CHECK (calls >= 0),
  PRIMARY KEY (attempt_id, name)
) STRICT, WITHOUT ROWID;

-- What shall be said to the tracker, queued in the transaction of the change that causes it.
CREATE TABLE outbox (
  id           INTEGER PRIMARY KEY,
  key          TEXT NOT NULL UNIQUE CHECK (key <> ''),
  incident_id  INTEGER NOT NULL REFERENCES incident (id),
  kind         TEXT NOT NULL CHECK (kind IN ('open', 'comment', 'close')),
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  state        TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'dead')),
  tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  not_before   INTEGER NOT NULL,
  issue_number INTEGER,
  last_error   TEXT NOT NULL DEFAULT '',
  CHECK (state <> 'sent' OR issue_number IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX outbox_open_once ON outbox (incident_id) WHERE kind = 'open';
CREATE INDEX outbox_by_incident ON outbox (incident_id, id);
CREATE INDEX outbox_unsent ON outbox (id) WHERE state IN ('pending', 'sending');

CREATE TABLE request (
  id          INTEGER PRIMARY KEY,
  delivery    TEXT NOT NULL UNIQUE CHECK (delivery <> ''),
  kind        TEXT NOT NULL CHECK (kind IN ('nightly', 'bisection')),
  state       TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed')),
  body_json   TEXT NOT NULL,
  result_json TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX request_pending ON request (id) WHERE state = 'pending';
CREATE INDEX request_running ON request (id) WHERE state = 'running';
