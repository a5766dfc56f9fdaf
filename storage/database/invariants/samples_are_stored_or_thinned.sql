-- What was thinned is gone, and only the samples of benchmarks without a change may be.
SELECT 'samples ' || t.kind || ' of attempt ' || t.attempt_id
FROM thinned_sample t
JOIN attempt a ON a.id = t.attempt_id
LEFT JOIN sample s ON s.attempt_id = t.attempt_id AND s.kind = t.kind
WHERE s.attempt_id IS NOT NULL OR a.comparison_id IS NULL OR EXISTS (
  SELECT 1 FROM verdict v WHERE v.comparison_id = a.comparison_id
  AND v.benchmark_id = a.benchmark_id AND v.verdict <> 'unchanged');
