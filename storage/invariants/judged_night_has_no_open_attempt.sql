SELECT 'night ' || n.id || ' (' || n.state || '), attempt ' || a.id
FROM night n JOIN attempt a ON a.night_id = n.id
WHERE n.state IN ('judged', 'bisected', 'reported') AND a.state = 'issued';
