-- Machines of one processor and GPU, whatever kernel and drivers they have: what a series belongs
-- to. `facts`: lines "name: value", in the order of their names.
CREATE TABLE machine_class (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL CHECK (name <> ''),
  facts TEXT NOT NULL UNIQUE CHECK (facts <> '')
) STRICT;
-- NULL: its facts name neither processor nor GPU.
ALTER TABLE machine ADD COLUMN class_id INTEGER REFERENCES machine_class (id);
-- The node of the cluster that the run was given to; NULL: the service's own machine.
ALTER TABLE attempt ADD COLUMN node TEXT CHECK (node <> '');

-- The facts of each machine, one a row.
CREATE TEMP TABLE fact_of_machine AS
SELECT DISTINCT machine_id, name, value
FROM environment JOIN environment_fact ON environment_id = environment.id
WHERE machine_id IS NOT NULL AND value <> '' AND name IN ('cpu_model', 'cpus', 'gpu_model');
CREATE TEMP TABLE class_of_machine AS
SELECT machine_id, group_concat(name || ': ' || value, char(10)) AS facts,
       group_concat(CASE WHEN name <> 'cpus' THEN value
                         WHEN value = '1' THEN '1 core' ELSE value || ' cores' END, ', ') AS name
FROM (SELECT * FROM fact_of_machine ORDER BY machine_id, name)
GROUP BY machine_id;
INSERT INTO machine_class (name, facts)
SELECT name, facts FROM class_of_machine GROUP BY facts ORDER BY min(machine_id);
UPDATE machine SET class_id =
  (SELECT machine_class.id FROM machine_class JOIN class_of_machine USING (facts)
   WHERE machine_id = machine.id);
DROP TABLE class_of_machine;
DROP TABLE fact_of_machine;

-- How long the nodes of a cluster worked for a comparison or a bisection. A node has one order at a
-- time, so what lies before `counted_until` is counted already: both runs of a pair are one order.
CREATE TABLE node_time (
  id            INTEGER PRIMARY KEY,
  node          TEXT NOT NULL CHECK (node <> ''),
  comparison_id INTEGER REFERENCES comparison (id),
  bisection_id  INTEGER REFERENCES bisection (id),
  milliseconds  INTEGER NOT NULL DEFAULT 0 CHECK (milliseconds >= 0),
  counted_until INTEGER NOT NULL DEFAULT 0,
  CHECK ((comparison_id IS NULL) <> (bisection_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX node_time_of_comparison ON node_time (comparison_id, node)
  WHERE comparison_id IS NOT NULL;
CREATE UNIQUE INDEX node_time_of_bisection ON node_time (bisection_id, node)
  WHERE bisection_id IS NOT NULL;
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
