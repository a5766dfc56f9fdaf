-- A pull request is compared with the commit that it branches from: a purpose of its own, and builds
-- that nobody else may use. SQLite changes no CHECK of a table: both are made again.
CREATE TABLE build_of_any_origin (
  id              INTEGER PRIMARY KEY,
  origin          TEXT NOT NULL CHECK (origin IN ('nightly', 'commit', 'folder', 'release',
                                                  'pull')),
  name            TEXT NOT NULL CHECK (name <> ''),
  version         TEXT NOT NULL DEFAULT '',
  embedded_commit TEXT NOT NULL DEFAULT '',
  trunk_commit    TEXT NOT NULL DEFAULT '',
  content_hash    TEXT NOT NULL DEFAULT '',
  folder          TEXT NOT NULL DEFAULT '',
  state           TEXT NOT NULL CHECK (state IN ('discovered', 'ready', 'rejected')),
  reason          TEXT NOT NULL DEFAULT '',
  unusable        TEXT NOT NULL DEFAULT '',
  fingerprint     TEXT NOT NULL DEFAULT '',
  place           INTEGER NOT NULL DEFAULT 0,
  UNIQUE (origin, name, content_hash),
  CHECK (state <> 'ready' OR (content_hash <> '' AND folder <> '')),
  CHECK (state <> 'rejected' OR reason <> '')
) STRICT;
INSERT INTO build_of_any_origin
SELECT id, origin, name, version, embedded_commit, trunk_commit, content_hash, folder, state,
       reason, unusable, fingerprint, place
FROM build;
DROP TABLE build;
ALTER TABLE build_of_any_origin RENAME TO build;

CREATE TABLE comparison_for_any_purpose (
  id                INTEGER PRIMARY KEY,
  purpose           TEXT NOT NULL CHECK (purpose IN ('nightly', 'requested', 'recheck', 'drift',
                                                     'self_test', 'measurement', 'pull_request')),
  candidate_id      INTEGER NOT NULL REFERENCES build (id),
  baseline_id       INTEGER REFERENCES build (id),
  repetition        INTEGER NOT NULL CHECK (repetition >= 0),
  -- The incident that a recheck measures again.
  incident_id       INTEGER REFERENCES incident (id),
  -- How many nightlies before the candidate the baseline of a drift comparison was published.
  nightlies_back    INTEGER NOT NULL DEFAULT 0 CHECK (nightlies_back >= 0),
  -- The number of series that share the error budget; 0: the plan's own number.
  budget_series     INTEGER NOT NULL DEFAULT 0 CHECK (budget_series >= 0),
  opens_incidents   INTEGER NOT NULL CHECK (opens_incidents IN (0, 1)),
  state             TEXT NOT NULL CHECK (state IN ('discovered', 'ready', 'measured', 'judged',
                                                   'bisected', 'reported', 'accepted', 'refused',
                                                   'failed', 'cancelled')),
  version           INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0),
  plan_json         TEXT NOT NULL DEFAULT '',
  summary_json      TEXT NOT NULL DEFAULT '',
  reason            TEXT NOT NULL DEFAULT '',
  created_at        INTEGER NOT NULL,
  ended_at          INTEGER,
  samples_thinned   INTEGER NOT NULL DEFAULT 0 CHECK (samples_thinned IN (0, 1)),
  confidence        REAL CHECK (confidence IS NULL OR (confidence > 0 AND confidence < 1)),
  CHECK (purpose <> 'nightly' OR repetition = 0),
  CHECK ((purpose = 'recheck') = (incident_id IS NOT NULL)),
  CHECK ((purpose = 'drift') = (nightlies_back > 0)),
  CHECK (purpose <> 'measurement' OR baseline_id IS NULL),
  -- What has not landed is nobody's regression.
  CHECK (purpose <> 'pull_request' OR (opens_incidents = 0 AND baseline_id IS NOT NULL)),
  CHECK ((state IN ('reported', 'accepted', 'refused', 'failed', 'cancelled')) =
         (ended_at IS NOT NULL))
) STRICT;
INSERT INTO comparison_for_any_purpose
SELECT id, purpose, candidate_id, baseline_id, repetition, incident_id, nightlies_back,
       budget_series, opens_incidents, state, version, plan_json, summary_json, reason, created_at,
       ended_at, samples_thinned, confidence
FROM comparison;
DROP TABLE comparison;
ALTER TABLE comparison_for_any_purpose RENAME TO comparison;
CREATE UNIQUE INDEX comparison_once
  ON comparison (purpose, candidate_id, ifnull(baseline_id, 0), repetition);
CREATE INDEX comparison_unfinished ON comparison (id) WHERE ended_at IS NULL;
CREATE INDEX comparison_by_purpose ON comparison (purpose, id);
CREATE INDEX comparison_to_thin ON comparison (ended_at)
  WHERE ended_at IS NOT NULL AND samples_thinned = 0;
CREATE TRIGGER event_of_new_comparison AFTER INSERT ON comparison BEGIN
  INSERT INTO event (kind, item, state) VALUES ('comparison', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_comparison AFTER UPDATE OF state ON comparison
WHEN NEW.state <> OLD.state BEGIN
  INSERT INTO event (kind, item, state) VALUES ('comparison', NEW.id, NEW.state);
END;

-- Up to which event each receiver was told: a status, a webhook, a mail.
CREATE TABLE notice_cursor (
  receiver TEXT PRIMARY KEY CHECK (receiver <> ''),
  event    INTEGER NOT NULL CHECK (event >= 0)
) STRICT;
