SELECT 'issue ' || issue_number || ': incidents ' || group_concat(incident_id)
FROM outbox WHERE kind = 'open' AND state = 'sent'
GROUP BY repository, issue_number HAVING count(*) > 1;
