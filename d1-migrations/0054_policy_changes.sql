-- The last change of what decides about the calls of each organization: its keys, limits, guardrails, credentials,
-- destinations and presets. Each isolate caches these, and reads here which organizations have changed since.
CREATE TABLE policy_changes (
  -- Grows with each change of any organization.
  revision INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  organization_id TEXT NOT NULL UNIQUE
) STRICT;

-- A new key changes no other one.

CREATE TRIGGER api_keys_updated AFTER UPDATE ON api_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER api_keys_deleted AFTER DELETE ON api_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER workspaces_inserted AFTER INSERT ON workspaces BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER workspaces_updated AFTER UPDATE ON workspaces BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER workspaces_deleted AFTER DELETE ON workspaces BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER provider_budgets_inserted AFTER INSERT ON provider_budgets BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER provider_budgets_updated AFTER UPDATE ON provider_budgets BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER provider_budgets_deleted AFTER DELETE ON provider_budgets BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER guardrails_inserted AFTER INSERT ON guardrails BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER guardrails_updated AFTER UPDATE ON guardrails BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER guardrails_deleted AFTER DELETE ON guardrails BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER guardrail_keys_inserted AFTER INSERT ON guardrail_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER guardrail_keys_updated AFTER UPDATE ON guardrail_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER guardrail_keys_deleted AFTER DELETE ON guardrail_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER guardrail_members_inserted AFTER INSERT ON guardrail_members BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER guardrail_members_updated AFTER UPDATE ON guardrail_members BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER guardrail_members_deleted AFTER DELETE ON guardrail_members BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER data_keys_inserted AFTER INSERT ON data_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER data_keys_updated AFTER UPDATE ON data_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER data_keys_deleted AFTER DELETE ON data_keys BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER byok_credentials_inserted AFTER INSERT ON byok_credentials BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER byok_credentials_updated AFTER UPDATE ON byok_credentials BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER byok_credentials_deleted AFTER DELETE ON byok_credentials BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER presets_inserted AFTER INSERT ON presets BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER presets_updated AFTER UPDATE ON presets BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER presets_deleted AFTER DELETE ON presets BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

CREATE TRIGGER organizations_updated AFTER UPDATE ON organizations BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.id);
END;

CREATE TRIGGER organizations_deleted AFTER DELETE ON organizations BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.id);
END;

-- Not after an update of the state of deliveries.

CREATE TRIGGER destinations_inserted AFTER INSERT ON destinations BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER destinations_updated AFTER UPDATE OF organization_id, workspace_id, enabled, api_key_hashes, filter_rules, regions, sampling_rate, privacy_mode, deleted_at ON destinations BEGIN
  DELETE FROM policy_changes WHERE organization_id = NEW.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (NEW.organization_id);
END;

CREATE TRIGGER destinations_deleted AFTER DELETE ON destinations BEGIN
  DELETE FROM policy_changes WHERE organization_id = OLD.organization_id;
  INSERT INTO policy_changes (organization_id) VALUES (OLD.organization_id);
END;

-- Without an effect if the workspace is deleted, which is a change itself.

CREATE TRIGGER workspace_budgets_inserted AFTER INSERT ON workspace_budgets BEGIN
  DELETE FROM policy_changes WHERE organization_id = (SELECT organization_id FROM workspaces WHERE id = NEW.workspace_id);
  INSERT INTO policy_changes (organization_id) SELECT organization_id FROM workspaces WHERE id = NEW.workspace_id;
END;

CREATE TRIGGER workspace_budgets_updated AFTER UPDATE ON workspace_budgets BEGIN
  DELETE FROM policy_changes WHERE organization_id = (SELECT organization_id FROM workspaces WHERE id = NEW.workspace_id);
  INSERT INTO policy_changes (organization_id) SELECT organization_id FROM workspaces WHERE id = NEW.workspace_id;
END;

CREATE TRIGGER workspace_budgets_deleted AFTER DELETE ON workspace_budgets BEGIN
  DELETE FROM policy_changes WHERE organization_id = (SELECT organization_id FROM workspaces WHERE id = OLD.workspace_id);
  INSERT INTO policy_changes (organization_id) SELECT organization_id FROM workspaces WHERE id = OLD.workspace_id;
END;
