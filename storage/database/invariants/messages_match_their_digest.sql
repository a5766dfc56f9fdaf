SELECT 'message ' || key FROM outbox WHERE sha256(title || char(10) || body) <> digest;
