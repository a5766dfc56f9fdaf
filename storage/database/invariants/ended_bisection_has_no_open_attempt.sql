SELECT 'bisection ' || b.id || ', attempt ' || a.id
FROM bisection b JOIN attempt a ON a.bisection_id = b.id
WHERE b.state = 'ended' AND a.state = 'issued';
