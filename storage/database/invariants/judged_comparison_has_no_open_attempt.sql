-- The operators of an incident's builds are watched once its comparison is judged.
SELECT 'comparison ' || n.id || ' (' || n.state || '), attempt ' || a.id
FROM comparison n JOIN attempt a ON a.comparison_id = n.id
WHERE n.state IN ('judged', 'bisected', 'reported') AND a.state = 'issued'
  AND NOT (n.state = 'judged' AND a.slot GLOB 'operators/*');
