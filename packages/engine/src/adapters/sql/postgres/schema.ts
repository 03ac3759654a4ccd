// The schema of a PostgreSQL store, as numbered steps. A step that has been released is never edited, and an engine of the
// version before must be able to work on what the next step has made: a change is a new one at the end, and only adds.

/** The oldest engine that can work on this schema, by the last step it knows. It rises when a step does not only add. */
export const NEEDS_VERSION = 1

export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE runs (
  id text COLLATE "C" NOT NULL UNIQUE,
  namespace text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  trigger_kind text COLLATE "C" NOT NULL,
  event_name text COLLATE "C",
  event_id text COLLATE "C",
  cron text COLLATE "C",
  replay_of text COLLATE "C",
  parent_run_id text COLLATE "C",
  parent_step_index bigint,
  runner text COLLATE "C",
  trigger_id text COLLATE "C",
  trigger_name text COLLATE "C" NOT NULL,
  failure text COLLATE "C",
  input text COLLATE "C",
  singleton_key text COLLATE "C",
  cancel_on text COLLATE "C",
  holds text COLLATE "C",
  trace text COLLATE "C",
  priority double precision,
  slot1 text COLLATE "C",
  slot2 text COLLATE "C",
  slot3 text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  fence bigint NOT NULL,
  available_at bigint,
  lease_owner text COLLATE "C",
  waits_for_slot text COLLATE "C",
  start_queue text COLLATE "C",
  leased_without_slots bigint,
  cancel_requested bigint,
  held_for_runner bigint,
  attempt bigint NOT NULL,
  transport_tries bigint NOT NULL,
  started_at bigint,
  started_seq bigint,
  finished_at bigint,
  finished_seq bigint,
  duration_ms bigint NOT NULL,
  waiting_for text COLLATE "C",
  error text COLLATE "C",
  result text COLLATE "C"
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

CREATE INDEX runs_singleton ON runs USING hash (singleton_key)
  WHERE singleton_key IS NOT NULL AND finished_at IS NULL;

CREATE TABLE run_watches (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  event_name text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  condition text COLLATE "C"
);
CREATE INDEX run_watches_named ON run_watches (namespace, event_name, position);
CREATE INDEX run_watches_of ON run_watches (run_id);

CREATE TABLE steps (
  run_id text COLLATE "C" NOT NULL,
  idx bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  op text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  seq bigint NOT NULL,
  started_at bigint NOT NULL,
  finished_at bigint,
  next_attempt_at bigint,
  wake_at bigint,
  event_name text COLLATE "C",
  condition text COLLATE "C",
  event_id text COLLATE "C",
  child_run_id text COLLATE "C",
  delivery_id text COLLATE "C",
  emitted_event_id text COLLATE "C",
  carried bigint,
  timed_out bigint,
  namespace text COLLATE "C",
  error text COLLATE "C",
  data text COLLATE "C",
  PRIMARY KEY (run_id, idx)
);
CREATE INDEX steps_waiting ON steps (namespace, event_name) WHERE namespace IS NOT NULL AND status = 'waiting';

CREATE TABLE frames (
  run_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  ts bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  step_index bigint,
  error text COLLATE "C",
  PRIMARY KEY (run_id, seq)
);

CREATE TABLE logs (
  run_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  ts bigint NOT NULL,
  level text COLLATE "C" NOT NULL,
  message text COLLATE "C" NOT NULL,
  fields text COLLATE "C",
  scope text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  idx bigint NOT NULL,
  dedupe text COLLATE "C" NOT NULL,
  PRIMARY KEY (run_id, seq),
  UNIQUE (run_id, dedupe)
);
CREATE INDEX logs_root ON logs (run_id, idx) WHERE scope = '@root';

CREATE TABLE events (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  app text COLLATE "C",
  source text COLLATE "C" NOT NULL,
  received_at bigint NOT NULL,
  woke bigint NOT NULL,
  triggered text COLLATE "C" NOT NULL,
  data text COLLATE "C"
);
CREATE INDEX events_listed ON events (namespace, position, app);
CREATE INDEX events_named ON events (namespace, name);
CREATE INDEX events_received ON events (namespace, name, received_at);

CREATE TABLE dedupes (
  namespace text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  dedupe_id text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (namespace, app, dedupe_id)
);

CREATE TABLE deliveries (
  id text COLLATE "C" NOT NULL UNIQUE,
  namespace text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C",
  event_kind text COLLATE "C" NOT NULL,
  source_run_id text COLLATE "C",
  created_at bigint NOT NULL,
  destination text COLLATE "C" NOT NULL,
  trace text COLLATE "C",
  payload text COLLATE "C",
  url text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  fence bigint NOT NULL,
  available_at bigint,
  lease_owner text COLLATE "C",
  attempt_count bigint NOT NULL,
  max_attempts bigint NOT NULL,
  last_status_code bigint,
  next_attempt_at bigint,
  updated_at bigint NOT NULL
);
CREATE INDEX deliveries_available ON deliveries (available_at, destination) WHERE available_at IS NOT NULL;
CREATE INDEX deliveries_destined ON deliveries (destination, available_at) WHERE available_at IS NOT NULL;
CREATE INDEX deliveries_listed ON deliveries (namespace, created_at, id, app);
CREATE INDEX deliveries_unsent ON deliveries (namespace, status, created_at, id) WHERE status <> 'succeeded';
CREATE INDEX deliveries_counted ON deliveries (namespace, endpoint_id, created_at, status)
  WHERE endpoint_id IS NOT NULL;

CREATE TABLE delivery_attempts (
  delivery_id text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  status_code bigint,
  response_snippet text COLLATE "C",
  error text COLLATE "C",
  duration_ms bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);

CREATE TABLE flow_rows (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  available_at bigint,
  lease_owner text COLLATE "C",
  expires_at bigint,
  state text COLLATE "C" NOT NULL
);
CREATE INDEX flow_rows_available ON flow_rows (available_at) WHERE available_at IS NOT NULL;
CREATE INDEX flow_rows_of ON flow_rows (namespace, app, workflow, policy);

CREATE TABLE webhook_endpoints (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  app text COLLATE "C",
  url text COLLATE "C" NOT NULL,
  event_kinds text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL,
  disabled_reason text COLLATE "C",
  secret text COLLATE "C" NOT NULL,
  previous_secret text COLLATE "C",
  previous_until bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version bigint NOT NULL
);

CREATE TABLE webhook_receivers (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  app text COLLATE "C",
  slug text COLLATE "C" NOT NULL UNIQUE,
  event_name text COLLATE "C" NOT NULL,
  target_app text COLLATE "C",
  scheme text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL,
  secret text COLLATE "C" NOT NULL,
  previous_secret text COLLATE "C",
  previous_until bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version bigint NOT NULL
);

CREATE TABLE payloads (
  id text COLLATE "C" NOT NULL UNIQUE,
  body text COLLATE "C" NOT NULL
);

CREATE TABLE apps (
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (namespace, name)
);

CREATE TABLE runners (
  namespace text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  runner_id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  workflows text COLLATE "C" NOT NULL,
  framework text COLLATE "C",
  runtime text COLLATE "C",
  sdk_name text COLLATE "C",
  version text COLLATE "C",
  region text COLLATE "C",
  key_fingerprint text COLLATE "C",
  last_seen_at bigint NOT NULL,
  PRIMARY KEY (namespace, app, runner_id)
);

CREATE TABLE workflows (
  namespace text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  triggers text COLLATE "C" NOT NULL,
  retry text COLLATE "C" NOT NULL,
  on_failure bigint NOT NULL,
  invoke_timeout_ms bigint,
  flow_control text COLLATE "C",
  updated_at bigint NOT NULL,
  PRIMARY KEY (namespace, app, name)
);

CREATE TABLE control_actions (
  id text COLLATE "C" NOT NULL UNIQUE,
  namespace text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  run_id text COLLATE "C",
  new_run_id text COLLATE "C",
  actor text COLLATE "C",
  detail text COLLATE "C",
  created_at bigint NOT NULL
);
CREATE INDEX control_listed ON control_actions (namespace, id);
CREATE INDEX control_of_kind ON control_actions (namespace, action, id);
CREATE INDEX control_of_run ON control_actions (namespace, run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX control_of_fork ON control_actions (namespace, new_run_id, id) WHERE new_run_id IS NOT NULL;

CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL UNIQUE,
  namespace text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  revoked_at bigint
);

CREATE TABLE namespaces (
  name text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  suspended_at bigint
);

CREATE TABLE admin_revision (
  id bigint PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL
);
INSERT INTO admin_revision VALUES (1, 0);

-- One row a writer: the answers of its last batch, for when they are lost on the way.
CREATE TABLE writers (
  writer text COLLATE "C" PRIMARY KEY,
  batch bigint NOT NULL,
  answers int[] NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE probes (
  id bigint PRIMARY KEY CHECK (id = 1),
  count bigint NOT NULL
);
INSERT INTO probes VALUES (1, 0);

-- Rises with every write of apps, runners, workflows, endpoints and receivers that tells something new.
CREATE TABLE catalog_revision (
  id bigint PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL
);
INSERT INTO catalog_revision VALUES (1, 0);

-- What the engines on this store call themselves where they share other services with strangers.
CREATE TABLE cluster (
  id bigint PRIMARY KEY CHECK (id = 1),
  name text COLLATE "C" NOT NULL
);
INSERT INTO cluster VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- Words between engines that are too long for a notification, until whom they are for has read them.
CREATE TABLE wire_words (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  word text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX wire_words_by_age ON wire_words (at);

-- What retention finds its rows by. Each costs one entry, at the end of its index, when a run ends, a delivery settles, an
-- event claims a dedupe id, an action is recorded.
CREATE INDEX runs_ended ON runs (status, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX deliveries_settled ON deliveries (updated_at) WHERE available_at IS NULL;
CREATE INDEX dedupes_expiring ON dedupes (expires_at);
CREATE INDEX flow_rows_expiring ON flow_rows (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX control_aged ON control_actions (created_at);

-- How far retention has come with runs, events and deliveries: what is younger is never missing.
CREATE TABLE prune_marks (
  what text COLLATE "C" PRIMARY KEY,
  up_to bigint NOT NULL
);
`,
  // The latest time that a writer has written: no later event is stored with an earlier one.
  `
ALTER TABLE writers ADD COLUMN latest bigint NOT NULL DEFAULT 0;
`,
  // What each runner registered of its workflows, and since when.
  `
ALTER TABLE runners ADD COLUMN definitions text;
`,
  `
ALTER TABLE runners ADD COLUMN language text;
`,
]
