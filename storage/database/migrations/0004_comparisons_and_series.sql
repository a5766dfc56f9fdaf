-- The words of docs/glossary.md: what two builds measured against each other is called a
-- comparison, what a process is started for a benchmark, a benchmark's metric a series.
ALTER TABLE cell RENAME TO benchmark;
ALTER TABLE incident_target RENAME TO incident_series;
ALTER TABLE verdict RENAME COLUMN cell_id TO benchmark_id;
ALTER TABLE incident_series RENAME COLUMN cell_id TO benchmark_id;
ALTER TABLE attempt RENAME COLUMN cell_id TO benchmark_id;
ALTER TABLE value RENAME COLUMN cell_id TO benchmark_id;

ALTER TABLE night RENAME TO comparison;
ALTER TABLE verdict RENAME COLUMN night_id TO comparison_id;
ALTER TABLE incident RENAME COLUMN night_id TO comparison_id;
ALTER TABLE attempt RENAME COLUMN night_id TO comparison_id;
DROP INDEX night_once;
DROP INDEX night_unfinished;
DROP INDEX night_by_kind;
DROP INDEX incident_by_night;
DROP INDEX attempt_slot_of_night;
DROP INDEX attempt_by_night;

ALTER TABLE bisection RENAME COLUMN request_json TO spec_json;
ALTER TABLE bisection RENAME COLUMN answer_json TO result_json;

-- What a comparison is for is a fact of its own; it used to be read out of flags in its plan.
CREATE TABLE comparison_with_purpose (
  id                INTEGER PRIMARY KEY,
  purpose           TEXT NOT NULL CHECK (purpose IN ('nightly', 'requested', 'recheck', 'drift',
                                                     'self_test', 'measurement')),
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
                                                   'bisected', 'reported', 'accepted', 'refused', 'failed',
                                                   'cancelled')),
  version           INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0),
  plan_json         TEXT NOT NULL DEFAULT '',
  summary_json      TEXT NOT NULL DEFAULT '',
  reason            TEXT NOT NULL DEFAULT '',
  created_at        INTEGER NOT NULL,
  ended_at          INTEGER,
  CHECK (purpose <> 'nightly' OR repetition = 0),
  CHECK ((purpose = 'recheck') = (incident_id IS NOT NULL)),
  CHECK ((purpose = 'drift') = (nightlies_back > 0)),
  CHECK (purpose <> 'measurement' OR baseline_id IS NULL),
  CHECK ((state IN ('reported', 'accepted', 'refused', 'failed', 'cancelled')) =
         (ended_at IS NOT NULL))
) STRICT;

INSERT INTO comparison_with_purpose
SELECT id,
       CASE WHEN kind <> 'compare' THEN kind
            WHEN baseline_id IS NULL THEN 'measurement'
            WHEN coalesce(plan ->> '$.rechecks', 0) > 0 THEN 'recheck'
            WHEN coalesce(plan ->> '$.nightlies_back', 0) > 0 THEN 'drift'
            ELSE 'requested' END,
       candidate_id, baseline_id, repetition,
       nullif(coalesce(plan ->> '$.rechecks', 0), 0),
       coalesce(plan ->> '$.nightlies_back', 0),
       -- A benchmark was counted as six series.
       6 * coalesce(plan ->> '$.of_cells', 0),
       CASE WHEN kind = 'self_test' OR (kind = 'compare' AND baseline_id IS NULL) THEN 0
            ELSE coalesce(plan ->> '$.finds_incidents', 1) END,
       state, version, plan_json, summary_json,
       -- A purpose was told as the reason of an end.
       CASE WHEN state = 'reported' AND kind = 'compare' THEN '' ELSE reason END,
       created_at, ended_at
FROM (SELECT *, nullif(plan_json, '') AS plan FROM comparison);
DROP TABLE comparison;
ALTER TABLE comparison_with_purpose RENAME TO comparison;

CREATE UNIQUE INDEX comparison_once
  ON comparison (purpose, candidate_id, ifnull(baseline_id, 0), repetition);
CREATE INDEX comparison_unfinished ON comparison (id) WHERE ended_at IS NULL;
CREATE INDEX comparison_by_purpose ON comparison (purpose, id);
CREATE INDEX incident_by_comparison ON incident (comparison_id);
CREATE UNIQUE INDEX attempt_slot_of_comparison ON attempt (comparison_id, slot)
  WHERE comparison_id IS NOT NULL AND state IN ('issued', 'done');
CREATE INDEX attempt_by_comparison ON attempt (comparison_id, slot)
  WHERE comparison_id IS NOT NULL;

-- A later comparison that found an open incident again.
CREATE TABLE recurrence (
  incident_id   INTEGER NOT NULL REFERENCES incident (id),
  comparison_id INTEGER NOT NULL REFERENCES comparison (id),
  UNIQUE (incident_id, comparison_id)
) STRICT;
CREATE INDEX recurrence_by_comparison ON recurrence (comparison_id);

-- Stored JSON follows.
UPDATE comparison
SET plan_json = json_remove(
      json_set(plan_json, '$.benchmarks', json_extract(plan_json, '$.cells'),
                          '$.interleave', json(iif(plan_json ->> '$.take_turns', 'true', 'false'))),
      '$.cells', '$.take_turns', '$.finds_incidents', '$.rechecks', '$.of_cells',
      '$.nightlies_back')
WHERE plan_json <> '';
UPDATE bisection
SET spec_json = json_remove(
      json_set(spec_json, '$.series', json_extract(spec_json, '$.targets'),
                          '$.plan.benchmarks', json_extract(spec_json, '$.plan.cells'),
                          '$.plan.interleave',
                          json(iif(spec_json ->> '$.plan.take_turns', 'true', 'false'))),
      '$.targets', '$.plan.cells', '$.plan.take_turns', '$.plan.finds_incidents',
      '$.plan.rechecks', '$.plan.of_cells', '$.plan.nightlies_back')
WHERE spec_json <> '';
UPDATE bisection_event
SET kind = 'series_lost',
    body_json = json_remove(json_set(body_json, '$.series', body_json ->> '$.target'), '$.target')
WHERE kind = 'target_lost';
