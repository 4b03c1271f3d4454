-- What is recorded of the deployment itself: `jurisdiction` of its objects with the first organization ('' for none), and
-- `seed_date`, the day of the models and prices that were put last as a whole.
CREATE TABLE deployment (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- What exists was made without a jurisdiction.
INSERT INTO deployment (name, value) SELECT 'jurisdiction', '' WHERE EXISTS (SELECT 1 FROM organizations);
