-- Earlier versions left the samples of these as they were, and marked them as if they had thinned them.
UPDATE comparison SET samples_thinned = 0
WHERE purpose IN ('pull_request', 'drill') AND samples_thinned = 1;
