-- The region of the provider account of a credential, as its organization declares it.
ALTER TABLE byok_credentials ADD COLUMN declared_region TEXT CHECK (declared_region IN ('global', 'europe', 'us'));
