SELECT 'incident ' || i.id || ' is accepted and ' || i.state
FROM acceptance a JOIN incident i ON i.id = a.incident_id
WHERE i.state <> 'closed';
