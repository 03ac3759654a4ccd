// The schema of a SQLite store, as numbered steps. Run by whoever opens the database for writing. A step that has
// been released is never edited: a change is a new one at the end.

import type { Connection } from './connection.ts'

const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE runs (
  id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  workflow TEXT NOT NULL,
  app TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  trigger_kind TEXT NOT NULL,
  event_name TEXT,
  event_id TEXT,
  cron TEXT,
  replay_of TEXT,
  parent_run_id TEXT,
  parent_step_index INTEGER,
  runner TEXT,
  trigger_id TEXT,
  trigger_name TEXT NOT NULL,
  failure TEXT,
  input TEXT,
  singleton_key TEXT,
  cancel_on TEXT,
  holds TEXT,
  trace TEXT,
  priority REAL,
  slot1 TEXT,
  slot2 TEXT,
  slot3 TEXT,
  status TEXT NOT NULL,
  fence INTEGER NOT NULL,
  available_at INTEGER,
  lease_owner TEXT,
  waits_for_slot TEXT,
  start_queue TEXT,
  leased_without_slots INTEGER,
  cancel_requested INTEGER,
  held_for_runner INTEGER,
  attempt INTEGER NOT NULL,
  transport_tries INTEGER NOT NULL,
  started_at INTEGER,
  started_seq INTEGER,
  finished_at INTEGER,
  finished_seq INTEGER,
  duration_ms INTEGER NOT NULL,
  waiting_for TEXT,
  error TEXT,
  result TEXT
);
CREATE INDEX runs_available ON runs (available_at) WHERE available_at IS NOT NULL AND priority IS NULL;
CREATE INDEX runs_ranked ON runs (priority, available_at) WHERE available_at IS NOT NULL AND priority IS NOT NULL;
CREATE INDEX runs_ranked_available ON runs (available_at) WHERE available_at IS NOT NULL AND priority IS NOT NULL;
CREATE INDEX runs_in_slot1 ON runs (slot1) WHERE slot1 IS NOT NULL AND lease_owner IS NOT NULL AND leased_without_slots IS NULL;
CREATE INDEX runs_in_slot2 ON runs (slot2) WHERE slot2 IS NOT NULL AND lease_owner IS NOT NULL AND leased_without_slots IS NULL;
CREATE INDEX runs_in_slot3 ON runs (slot3) WHERE slot3 IS NOT NULL AND lease_owner IS NOT NULL AND leased_without_slots IS NULL;
CREATE INDEX runs_waiting_for_slot ON runs (waits_for_slot, coalesce(priority, 0) DESC, id)
  WHERE waits_for_slot IS NOT NULL AND lease_owner IS NULL;
CREATE INDEX runs_in_start_queue ON runs (start_queue, coalesce(priority, 0) DESC, id)
  WHERE start_queue IS NOT NULL AND lease_owner IS NULL;
CREATE INDEX runs_started ON runs (namespace, id);
CREATE INDEX runs_by_app ON runs (namespace, app, id);
CREATE INDEX runs_by_workflow ON runs (namespace, workflow, id);
CREATE INDEX runs_by_status ON runs (namespace, status, id, app);
CREATE INDEX runs_by_duration ON runs (namespace, duration_ms, id);
CREATE INDEX runs_of_cron ON runs (namespace, id) WHERE trigger_kind = 'cron';
CREATE INDEX runs_of_event ON runs (event_id, id) WHERE event_id IS NOT NULL;
CREATE INDEX runs_of_source ON runs (replay_of, id) WHERE replay_of IS NOT NULL;
CREATE INDEX runs_held ON runs (namespace, app) WHERE held_for_runner = 1;

CREATE INDEX runs_singleton ON runs (namespace, workflow, app, singleton_key)
  WHERE singleton_key IS NOT NULL AND finished_at IS NULL;

CREATE TABLE run_watches (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  event_name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  condition TEXT
);
CREATE INDEX run_watches_named ON run_watches (namespace, event_name, position);
CREATE INDEX run_watches_of ON run_watches (run_id);

CREATE TABLE steps (
  run_id TEXT NOT NULL,
  idx INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  op TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  next_attempt_at INTEGER,
  wake_at INTEGER,
  event_name TEXT,
  condition TEXT,
  event_id TEXT,
  child_run_id TEXT,
  delivery_id TEXT,
  emitted_event_id TEXT,
  carried INTEGER,
  timed_out INTEGER,
  namespace TEXT,
  error TEXT,
  data TEXT,
  PRIMARY KEY (run_id, idx)
) WITHOUT ROWID;
CREATE INDEX steps_waiting ON steps (namespace, event_name) WHERE namespace IS NOT NULL AND status = 'waiting';

CREATE TABLE frames (
  run_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  ts INTEGER NOT NULL,
  status TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  step_index INTEGER,
  error TEXT,
  PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;

CREATE TABLE logs (
  run_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  ts INTEGER NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  fields TEXT,
  scope TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  dedupe TEXT NOT NULL,
  PRIMARY KEY (run_id, seq),
  UNIQUE (run_id, dedupe)
) WITHOUT ROWID;
CREATE INDEX logs_root ON logs (run_id, idx) WHERE scope = '@root';

CREATE TABLE events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  app TEXT,
  source TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  woke INTEGER NOT NULL,
  triggered TEXT NOT NULL,
  data TEXT
);
CREATE INDEX events_listed ON events (namespace, position, app);
CREATE INDEX events_named ON events (namespace, name);
CREATE INDEX events_received ON events (namespace, name, received_at);

CREATE TABLE dedupes (
  namespace TEXT NOT NULL,
  app TEXT NOT NULL,
  dedupe_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, app, dedupe_id)
) WITHOUT ROWID;

CREATE TABLE deliveries (
  id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  app TEXT NOT NULL,
  endpoint_id TEXT,
  event_kind TEXT NOT NULL,
  source_run_id TEXT,
  created_at INTEGER NOT NULL,
  destination TEXT NOT NULL,
  payload TEXT,
  url TEXT NOT NULL,
  status TEXT NOT NULL,
  fence INTEGER NOT NULL,
  available_at INTEGER,
  lease_owner TEXT,
  attempt_count INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  last_status_code INTEGER,
  next_attempt_at INTEGER,
  updated_at INTEGER NOT NULL
);
CREATE INDEX deliveries_available ON deliveries (available_at, destination) WHERE available_at IS NOT NULL;
CREATE INDEX deliveries_destined ON deliveries (destination, available_at) WHERE available_at IS NOT NULL;
CREATE INDEX deliveries_listed ON deliveries (namespace, created_at, id, app);
CREATE INDEX deliveries_unsent ON deliveries (namespace, status, created_at, id) WHERE status <> 'succeeded';
CREATE INDEX deliveries_counted ON deliveries (namespace, endpoint_id, created_at, status)
  WHERE endpoint_id IS NOT NULL;

CREATE TABLE delivery_attempts (
  delivery_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  status_code INTEGER,
  response_snippet TEXT,
  error TEXT,
  duration_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
) WITHOUT ROWID;

CREATE TABLE flow_rows (
  id TEXT NOT NULL PRIMARY KEY,
  namespace TEXT NOT NULL,
  app TEXT NOT NULL,
  workflow TEXT NOT NULL,
  policy TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  available_at INTEGER,
  lease_owner TEXT,
  expires_at INTEGER,
  state TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX flow_rows_available ON flow_rows (available_at) WHERE available_at IS NOT NULL;
CREATE INDEX flow_rows_of ON flow_rows (namespace, app, workflow, policy);

CREATE TABLE webhook_endpoints (
  id TEXT NOT NULL PRIMARY KEY,
  namespace TEXT NOT NULL,
  name TEXT,
  app TEXT,
  url TEXT NOT NULL,
  event_kinds TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE webhook_receivers (
  id TEXT NOT NULL PRIMARY KEY,
  namespace TEXT NOT NULL,
  name TEXT,
  app TEXT,
  slug TEXT NOT NULL UNIQUE,
  event_name TEXT NOT NULL,
  target_app TEXT,
  scheme TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE payloads (
  id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL
);

CREATE TABLE apps (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

CREATE TABLE runners (
  namespace TEXT NOT NULL,
  app TEXT NOT NULL,
  runner_id TEXT NOT NULL,
  url TEXT NOT NULL,
  workflows TEXT NOT NULL,
  framework TEXT,
  runtime TEXT,
  sdk_name TEXT,
  version TEXT,
  region TEXT,
  key_fingerprint TEXT,
  last_seen_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, app, runner_id)
) WITHOUT ROWID;

CREATE TABLE workflows (
  namespace TEXT NOT NULL,
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  triggers TEXT NOT NULL,
  retry TEXT NOT NULL,
  on_failure INTEGER NOT NULL,
  invoke_timeout_ms INTEGER,
  flow_control TEXT,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, app, name)
) WITHOUT ROWID;

CREATE TABLE control_actions (
  id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  action TEXT NOT NULL,
  run_id TEXT,
  new_run_id TEXT,
  actor TEXT,
  detail TEXT,
  created_at INTEGER NOT NULL
);
CREATE INDEX control_listed ON control_actions (namespace, id);
CREATE INDEX control_of_kind ON control_actions (namespace, action, id);
CREATE INDEX control_of_run ON control_actions (namespace, run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX control_of_fork ON control_actions (namespace, new_run_id, id) WHERE new_run_id IS NOT NULL;

CREATE TABLE api_keys (
  id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  label TEXT NOT NULL,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
);

CREATE TABLE namespaces (
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  suspended_at INTEGER
);

CREATE TABLE admin_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
);
INSERT INTO admin_revision VALUES (1, 0);

CREATE TABLE probes (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL
);
INSERT INTO probes VALUES (1, 0);
`,
  `
CREATE TABLE catalog_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
);
INSERT INTO catalog_revision VALUES (1, 0);

CREATE TABLE cluster (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL
);
INSERT INTO cluster VALUES (1, lower(hex(randomblob(16))));
`,
  `
-- What retention finds its rows by. Each costs one entry, at the end of its index, when a run ends, a delivery settles, an
-- event claims a dedupe id, an action is recorded.
CREATE INDEX runs_ended ON runs (status, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX deliveries_settled ON deliveries (updated_at) WHERE available_at IS NULL;
CREATE INDEX dedupes_expiring ON dedupes (expires_at);
CREATE INDEX flow_rows_expiring ON flow_rows (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX control_aged ON control_actions (created_at);

-- How far retention has come with runs, events and deliveries: what is younger is never missing.
CREATE TABLE prune_marks (
  what TEXT NOT NULL PRIMARY KEY,
  up_to INTEGER NOT NULL
) WITHOUT ROWID;
`,
  `
ALTER TABLE deliveries ADD COLUMN trace TEXT;
`,
  'ALTER TABLE runners ADD COLUMN definitions TEXT',
  'ALTER TABLE runners ADD COLUMN language TEXT',
]

/** The version that `migrate` brings a database to. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The version the database has; 0 when it is new. */
export function schemaVersion(connection: Connection): number {
  const table = connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'migrations'`).all([])
  if (table.length === 0) return 0
  const [[newest]] = connection.prepare('SELECT coalesce(max(version), 0) FROM migrations').all([]) as [
    [number],
  ]
  return newest
}

/** Brings the database to this code's schema. Throws when a newer engine has been here. */
export function migrate(connection: Connection): void {
  connection.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY)')
  const newest = schemaVersion(connection)
  if (newest > MIGRATIONS.length) {
    throw new Error(
      `the database has schema version ${newest}, this engine knows up to ${MIGRATIONS.length}: use a newer engine`,
    )
  }
  for (let version = newest + 1; version <= MIGRATIONS.length; version++) {
    connection.exec(`BEGIN IMMEDIATE;${MIGRATIONS[version - 1]};
      INSERT INTO migrations VALUES (${version}); COMMIT`)
  }
}
