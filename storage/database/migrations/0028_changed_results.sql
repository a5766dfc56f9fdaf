-- What a run's workload computed, for the first run of the baseline: those of the others are compared
-- with it, and only how far they are apart is kept of them.
CREATE TABLE workload_output (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id),
  figures    TEXT NOT NULL CHECK (figures <> '')
) STRICT;

-- An incident may be of results that changed.
CREATE TABLE incident_of_kind (
  id            INTEGER PRIMARY KEY,
  comparison_id INTEGER NOT NULL REFERENCES comparison (id),
  key           TEXT NOT NULL CHECK (key <> ''),
  kind          TEXT NOT NULL CHECK (kind IN ('regression', 'leak', 'result', 'lost')),
  state         TEXT NOT NULL CHECK (state IN ('open', 'acknowledged', 'closed')),
  title         TEXT NOT NULL,
  bisection_id  INTEGER REFERENCES bisection (id),
  issue_number  INTEGER,
  opened_at     INTEGER NOT NULL,
  closed_at     INTEGER,
  unfiled       TEXT NOT NULL DEFAULT '',
  issue_gone    TEXT NOT NULL DEFAULT '',
  CHECK ((state = 'closed') = (closed_at IS NOT NULL))
) STRICT;
INSERT INTO incident_of_kind
SELECT id, comparison_id, key, kind, state, title, bisection_id, issue_number, opened_at, closed_at,
       unfiled, issue_gone
FROM incident;
DROP TABLE incident;
ALTER TABLE incident_of_kind RENAME TO incident;
CREATE UNIQUE INDEX incident_open_once ON incident (key) WHERE state <> 'closed';
CREATE INDEX incident_by_comparison ON incident (comparison_id);
CREATE INDEX incident_by_issue ON incident (issue_number) WHERE issue_number IS NOT NULL;
CREATE TRIGGER event_of_new_incident AFTER INSERT ON incident BEGIN
  INSERT INTO event (kind, item, state) VALUES ('incident', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_incident AFTER UPDATE ON incident
WHEN NEW.state <> OLD.state OR NEW.title <> OLD.title OR NEW.bisection_id IS NOT OLD.bisection_id
  OR NEW.issue_number IS NOT OLD.issue_number BEGIN
  INSERT INTO event (kind, item, state) VALUES ('incident', NEW.id, NEW.state);
END;
