-- A build is compared with itself, one side slowed down on purpose: a purpose of its own, and a cause
-- of alarms. Two settings of one build may be compared, too. SQLite changes no CHECK of a table: both
-- tables are made again.
CREATE TABLE comparison_of_any_purpose (
  id                INTEGER PRIMARY KEY,
  purpose           TEXT NOT NULL CHECK (purpose IN ('nightly', 'requested', 'recheck', 'drift',
                                                     'self_test', 'drill', 'measurement',
                                                     'pull_request', 'study')),
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
  -- Nor is what was slowed down on purpose.
  CHECK (purpose <> 'drill' OR (opens_incidents = 0 AND baseline_id IS candidate_id)),
  -- A study compares two settings of one build.
  CHECK (purpose <> 'study' OR (opens_incidents = 0 AND baseline_id IS candidate_id)),
  CHECK ((state IN ('reported', 'accepted', 'refused', 'failed', 'cancelled')) =
         (ended_at IS NOT NULL))
) STRICT;
INSERT INTO comparison_of_any_purpose
SELECT id, purpose, candidate_id, baseline_id, repetition, incident_id, nightlies_back,
       budget_series, opens_incidents, state, version, plan_json, summary_json, reason, created_at,
       ended_at, samples_thinned, confidence
FROM comparison;
DROP TABLE comparison;
ALTER TABLE comparison_of_any_purpose RENAME TO comparison;
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

CREATE TABLE alarm_of_any_cause (
  id           INTEGER PRIMARY KEY,
  cause        TEXT NOT NULL CHECK (cause IN ('no_nightly', 'no_verdict', 'no_delivery',
                                              'no_self_test', 'missed_drill')),
  since        INTEGER NOT NULL,
  raised_at    INTEGER NOT NULL,
  ended_at     INTEGER,
  issue_number INTEGER
) STRICT;
INSERT INTO alarm_of_any_cause
SELECT id, cause, since, raised_at, ended_at, issue_number FROM alarm;
DROP TABLE alarm;
ALTER TABLE alarm_of_any_cause RENAME TO alarm;
CREATE UNIQUE INDEX alarm_open_once ON alarm (cause) WHERE ended_at IS NULL;

-- The settings of a comparison's two sides, in the words that people write: "threads=2", "default".
-- Its runs are of no series: nothing that follows a series over builds reads them.
CREATE TABLE study (
  comparison_id INTEGER PRIMARY KEY REFERENCES comparison (id),
  name          TEXT NOT NULL DEFAULT '',
  baseline      TEXT NOT NULL CHECK (baseline <> ''),
  candidate     TEXT NOT NULL CHECK (candidate <> ''),
  CHECK (baseline <> candidate)
) STRICT;
