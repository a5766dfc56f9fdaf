SELECT 'comparison ' || n.id || ' (' || n.state || '), attempt ' || a.id
FROM comparison n JOIN attempt a ON a.comparison_id = n.id
WHERE n.state IN ('judged', 'bisected', 'reported') AND a.state = 'issued';
