-- sha256() is this program's own function; integrity_check does not see a changed byte.
SELECT 'samples ' || kind || ' of attempt ' || attempt_id
FROM sample WHERE sha256(data) <> digest;
