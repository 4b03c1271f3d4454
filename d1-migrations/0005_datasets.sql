-- Snapshots that a schedule computes from the generations, and that callers read. Money is nano-USD.
CREATE TABLE session_cost_cells (
  app_slug TEXT NOT NULL,
  model TEXT NOT NULL,
  turn_range TEXT NOT NULL CHECK (turn_range IN ('1-turn', '2-9-turns', '10-49-turns', '50-plus-turns')),
  app_name TEXT NOT NULL,
  median_nano REAL NOT NULL,
  PRIMARY KEY (app_slug, model, turn_range)
) STRICT, WITHOUT ROWID;

CREATE TABLE dataset_snapshots (
  name TEXT PRIMARY KEY,
  as_of INTEGER NOT NULL,
  window_days INTEGER NOT NULL,
  -- YYYY-MM-DD, the last day in the window.
  window_end_date TEXT NOT NULL
) STRICT, WITHOUT ROWID;
