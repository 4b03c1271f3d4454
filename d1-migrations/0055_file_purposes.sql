-- What a client of OpenAI's API says that a file is for. Null for files of other clients.
ALTER TABLE files ADD COLUMN purpose TEXT;
