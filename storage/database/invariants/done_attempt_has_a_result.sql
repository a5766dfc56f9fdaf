SELECT 'attempt ' || a.id
FROM attempt a LEFT JOIN result r ON r.attempt_id = a.id
WHERE a.state = 'done' AND r.attempt_id IS NULL;
