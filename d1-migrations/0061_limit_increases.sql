-- A temporary increase of the limit of a key, as JSON with nano-USD and epoch milliseconds.
ALTER TABLE api_keys ADD COLUMN limit_increase TEXT;
