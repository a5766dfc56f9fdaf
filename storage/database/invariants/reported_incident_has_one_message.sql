-- Once its comparison is reported, an incident has exactly one message that opens its issue.
SELECT 'incident ' || i.id || ': ' || count(o.id) || ' messages'
FROM incident i JOIN comparison n ON n.id = i.comparison_id
LEFT JOIN outbox o ON o.incident_id = i.id AND o.kind = 'open'
WHERE n.state = 'reported'
GROUP BY i.id HAVING count(o.id) <> 1;
