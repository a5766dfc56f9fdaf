SELECT 'build ' || id || ' (' || name || ')'
FROM build WHERE state = 'ready' AND (content_hash = '' OR folder = '');
