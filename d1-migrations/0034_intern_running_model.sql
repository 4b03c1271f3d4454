-- The model that the running agent uses: that of the intern, or the default of the deployment (INTERN_MODEL).
ALTER TABLE interns ADD COLUMN running_model TEXT;
