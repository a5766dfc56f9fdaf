-- Verdicts lie by series: the past of one is a single range of this table, where each verdict of it
-- was sought by itself. A comparison's are found and counted by two indexes: nearly all of them are
-- unchanged, and the second has the words of the others.
CREATE TABLE verdict_by_series (
  benchmark_id     INTEGER NOT NULL REFERENCES benchmark (id),
  metric           TEXT NOT NULL CHECK (metric <> ''),
  comparison_id    INTEGER NOT NULL REFERENCES comparison (id),
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
  PRIMARY KEY (benchmark_id, metric, comparison_id),
  CHECK (interval_low <= interval_high)
) STRICT, WITHOUT ROWID;
INSERT INTO verdict_by_series
SELECT benchmark_id, metric, comparison_id, verdict, ratio, interval_low, interval_high,
       baseline_value, candidate_value, baseline_spread, candidate_spread, runs, reason
FROM verdict ORDER BY benchmark_id, metric, comparison_id;
DROP TABLE verdict;
ALTER TABLE verdict_by_series RENAME TO verdict;
CREATE INDEX verdict_by_comparison ON verdict (comparison_id);
CREATE INDEX verdict_changed ON verdict (comparison_id, benchmark_id, verdict)
  WHERE verdict <> 'unchanged';

-- A result names its attempt by its id. The token that fenced it stands with the attempt alone.
CREATE TABLE result_by_attempt (
  attempt_id            INTEGER PRIMARY KEY REFERENCES attempt (id),
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
  CHECK ((leak_growth IS NULL) = (leak_retained IS NULL)),
  CHECK ((active_ns IS NULL) = (copy_ns IS NULL) AND (active_ns IS NULL) = (idle_ns IS NULL))
) STRICT;
INSERT INTO result_by_attempt
SELECT attempt_id, status, reason, environment_id, iterations_per_sample, leak_growth,
       leak_retained, active_ns, copy_ns, idle_ns, breakdown_reason
FROM result;
DROP TABLE result;
ALTER TABLE result_by_attempt RENAME TO result;

-- Results referred to the id and the token of an attempt together, and no longer need that index.
CREATE TABLE attempt_by_token (
  id            INTEGER PRIMARY KEY,
  token         TEXT NOT NULL UNIQUE CHECK (token <> ''),
  fence         INTEGER NOT NULL,
  comparison_id INTEGER REFERENCES comparison (id),
  bisection_id  INTEGER REFERENCES bisection (id),
  slot          TEXT NOT NULL CHECK (slot <> ''),
  build_id      INTEGER NOT NULL REFERENCES build (id),
  benchmark_id  INTEGER NOT NULL REFERENCES benchmark (id),
  pass          TEXT NOT NULL CHECK (pass IN ('timing', 'memory', 'profile', 'coverage')),
  state         TEXT NOT NULL CHECK (state IN ('issued', 'done', 'failed', 'abandoned', 'stale')),
  reason        TEXT NOT NULL DEFAULT '',
  output        TEXT NOT NULL DEFAULT '',
  issued_at     INTEGER NOT NULL,
  ended_at      INTEGER,
  node          TEXT CHECK (node <> ''),
  CHECK ((comparison_id IS NULL) <> (bisection_id IS NULL)),
  CHECK ((state = 'issued') = (ended_at IS NULL))
) STRICT;
INSERT INTO attempt_by_token
SELECT id, token, fence, comparison_id, bisection_id, slot, build_id, benchmark_id, pass, state,
       reason, output, issued_at, ended_at, node
FROM attempt;
DROP TABLE attempt;
ALTER TABLE attempt_by_token RENAME TO attempt;
CREATE UNIQUE INDEX attempt_slot_of_comparison ON attempt (comparison_id, slot)
  WHERE comparison_id IS NOT NULL AND state IN ('issued', 'done');
CREATE UNIQUE INDEX attempt_slot_of_bisection ON attempt (bisection_id, slot)
  WHERE bisection_id IS NOT NULL AND state IN ('issued', 'done');
CREATE INDEX attempt_by_comparison ON attempt (comparison_id) WHERE comparison_id IS NOT NULL;
CREATE INDEX attempt_by_bisection ON attempt (bisection_id, slot) WHERE bisection_id IS NOT NULL;
CREATE INDEX attempt_issued ON attempt (id) WHERE state = 'issued';
CREATE INDEX attempt_with_output ON attempt (ended_at) WHERE output <> '';
CREATE TRIGGER node_time_of_attempt AFTER UPDATE OF ended_at ON attempt
WHEN NEW.node IS NOT NULL AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
  INSERT OR IGNORE INTO node_time (node, comparison_id, bisection_id)
  VALUES (NEW.node, NEW.comparison_id, NEW.bisection_id);
  UPDATE node_time
  SET milliseconds = milliseconds + max(0, NEW.ended_at - max(NEW.issued_at, counted_until)),
      counted_until = max(counted_until, NEW.ended_at)
  WHERE node = NEW.node AND comparison_id = NEW.comparison_id;
  UPDATE node_time
  SET milliseconds = milliseconds + max(0, NEW.ended_at - max(NEW.issued_at, counted_until)),
      counted_until = max(counted_until, NEW.ended_at)
  WHERE node = NEW.node AND bisection_id = NEW.bisection_id;
END;
