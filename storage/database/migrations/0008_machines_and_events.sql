-- What runs were measured on: the facts of their environments about the processor, the system and
-- the GPU, as lines "name: value". Kept with their number of runs, so that no reader counts them.
CREATE TABLE machine (
  id               INTEGER PRIMARY KEY,
  facts            TEXT NOT NULL UNIQUE CHECK (facts <> ''),
  runs             INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0),
  first_attempt_id INTEGER REFERENCES attempt (id),
  last_attempt_id  INTEGER REFERENCES attempt (id),
  CHECK ((runs = 0) = (first_attempt_id IS NULL) AND (runs = 0) = (last_attempt_id IS NULL))
) STRICT;
-- NULL: its facts say nothing about the machine.
ALTER TABLE environment ADD COLUMN machine_id INTEGER REFERENCES machine (id);

CREATE TEMP TABLE machine_of_environment AS
SELECT environment_id, group_concat(name || ': ' || value, char(10)) AS facts
FROM (SELECT environment_id, name, value FROM environment_fact
      WHERE name IN ('cpu_governor', 'cpu_model', 'cpus', 'glibc', 'gpu', 'gpu_clock_max_mhz',
                     'gpu_driver', 'gpu_model', 'huge_pages', 'kernel')
      ORDER BY environment_id, name)
GROUP BY environment_id;
INSERT INTO machine (facts)
SELECT facts FROM machine_of_environment GROUP BY facts ORDER BY min(environment_id);
UPDATE environment SET machine_id =
  (SELECT machine.id FROM machine JOIN machine_of_environment USING (facts)
   WHERE environment_id = environment.id);
DROP TABLE machine_of_environment;
UPDATE machine SET runs = counted.runs, first_attempt_id = counted.first,
                   last_attempt_id = counted.last
FROM (SELECT machine_id, count(*) AS runs, min(attempt_id) AS first, max(attempt_id) AS last
      FROM result JOIN environment ON environment.id = environment_id
      GROUP BY machine_id) AS counted
WHERE machine.id = counted.machine_id;

-- What clients follow: each change of state, written in the transaction that makes it, whoever
-- writes. The newest ten thousand are kept; a client that missed more reads everything again.
CREATE TABLE event (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  kind  TEXT NOT NULL CHECK (kind IN ('comparison', 'incident', 'bisection', 'message', 'request')),
  item  TEXT NOT NULL CHECK (item <> ''),
  state TEXT NOT NULL CHECK (state <> '')
) STRICT;
CREATE TRIGGER event_kept AFTER INSERT ON event BEGIN
  DELETE FROM event WHERE id <= NEW.id - 10000;
END;

CREATE TRIGGER event_of_new_comparison AFTER INSERT ON comparison BEGIN
  INSERT INTO event (kind, item, state) VALUES ('comparison', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_comparison AFTER UPDATE OF state ON comparison
WHEN NEW.state <> OLD.state BEGIN
  INSERT INTO event (kind, item, state) VALUES ('comparison', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_new_incident AFTER INSERT ON incident BEGIN
  INSERT INTO event (kind, item, state) VALUES ('incident', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_incident AFTER UPDATE ON incident
WHEN NEW.state <> OLD.state OR NEW.title <> OLD.title OR NEW.bisection_id IS NOT OLD.bisection_id
  OR NEW.issue_number IS NOT OLD.issue_number BEGIN
  INSERT INTO event (kind, item, state) VALUES ('incident', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_new_bisection AFTER INSERT ON bisection BEGIN
  INSERT INTO event (kind, item, state) VALUES ('bisection', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_bisection AFTER UPDATE OF state ON bisection
WHEN NEW.state <> OLD.state BEGIN
  INSERT INTO event (kind, item, state) VALUES ('bisection', NEW.id, NEW.state);
END;
-- A step of a search that continues.
CREATE TRIGGER event_of_bisection_step AFTER INSERT ON bisection_event BEGIN
  INSERT INTO event (kind, item, state) VALUES ('bisection', NEW.bisection_id, 'open');
END;
CREATE TRIGGER event_of_new_message AFTER INSERT ON outbox BEGIN
  INSERT INTO event (kind, item, state) VALUES ('message', NEW.key, NEW.state);
END;
-- `sending` is followed by what became of it.
CREATE TRIGGER event_of_message AFTER UPDATE OF state ON outbox
WHEN NEW.state <> OLD.state AND NEW.state <> 'sending' BEGIN
  INSERT INTO event (kind, item, state) VALUES ('message', NEW.key, NEW.state);
END;
CREATE TRIGGER event_of_new_request AFTER INSERT ON request BEGIN
  INSERT INTO event (kind, item, state) VALUES ('request', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_request AFTER UPDATE OF state ON request
WHEN NEW.state <> OLD.state BEGIN
  INSERT INTO event (kind, item, state) VALUES ('request', NEW.id, NEW.state);
END;
