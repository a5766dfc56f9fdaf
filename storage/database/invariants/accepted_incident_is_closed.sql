SELECT 'incident ' || i.id || ' is accepted and ' || i.state
FROM decision d JOIN incident i ON i.id = d.incident_id
WHERE d.kind = 'accepted' AND i.state <> 'closed'
  AND d.id = (SELECT max(id) FROM decision WHERE incident_id = i.id);
