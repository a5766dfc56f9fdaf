-- Once its comparison is reported, an incident has exactly one message that opens its issue, or a
-- reason why it has none ([github] file_when, issues_per_night).
SELECT 'incident ' || i.id || ': ' || count(o.id) || ' messages' ||
       CASE i.unfiled WHEN '' THEN '' ELSE ', though not filed: ' || i.unfiled END
FROM incident i JOIN comparison n ON n.id = i.comparison_id
LEFT JOIN outbox o ON o.incident_id = i.id AND o.kind = 'open'
WHERE n.state = 'reported'
GROUP BY i.id HAVING count(o.id) <> (i.unfiled = '');
