-- The confidence of the intervals of a comparison's verdicts. None until it is judged, and where an
-- earlier version judged it: [detect] confidence then says it.
ALTER TABLE comparison ADD COLUMN confidence REAL
  CHECK (confidence IS NULL OR (confidence > 0 AND confidence < 1));
