-- A result counts only for the attempt that was issued, and only once that is done.
SELECT 'result of attempt ' || r.attempt_id || ' (' || ifnull(a.state, 'no such attempt') || ')'
FROM result r LEFT JOIN attempt a ON a.id = r.attempt_id
WHERE a.id IS NULL OR a.state <> 'done';
