-- The jurisdiction of the Durable Objects, recorded with the first organization: '' for none. One row.
CREATE TABLE deployment (
  id TEXT PRIMARY KEY NOT NULL,
  jurisdiction TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- What exists was made without one.
INSERT INTO deployment (id, jurisdiction) SELECT 'gateway', '' WHERE EXISTS (SELECT 1 FROM organizations);
