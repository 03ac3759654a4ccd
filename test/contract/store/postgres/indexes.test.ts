// The longest indexed values must fit into a PostgreSQL index entry. Every indexed text has a bound here, with its reason, and
// the bounds of each index fit together.

import { KEY_CHARS_MAX } from '@perdure/protocol'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openPostgresStore } from '../../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { onCleanup } from '../../../kit/cleanup.ts'
import { freshSchema } from '../../../kit/servers/postgres.ts'

/** A third of a page, minus the page's overhead. */
const ENTRY_BYTES_MAX = 2704
const ENTRY_HEAD_BYTES = 8
/** The length of a text, and its alignment. */
const TEXT_HEAD_BYTES = 7
const NUMBER_BYTES = 16

/** Names of the interface: whole characters of at most four bytes. */
const name = (chars: number) => 4 * chars
/** Strings of runners may contain lone surrogates. They are then stored as JSON: a mark, quotes, and six bytes per surrogate. */
const ofRunner = (chars: number) => 6 * chars + 3
/** The engine's own ids, digests and enumerations; the longest is the id of a run that contains a caller's id. */
const OURS = 96
/** Bounded in UTF-16 units of at most three bytes each. */
const NAMESPACE = 3 * 128

/** The longest value of each indexed text, in bytes: for a column of any table, or only of one table. */
const BYTES_MAX: Record<string, number> = {
  namespace: NAMESPACE,
  'namespaces.name': NAMESPACE,
  // Labels of keys have the same bound as namespaces.
  'control_actions.actor': NAMESPACE,
  app: name(128),
  'apps.name': name(128),
  runner: ofRunner(128),
  workflow: name(256),
  'workflows.name': name(256),
  'kept_pauses.name': name(256),
  'events.name': ofRunner(256),
  'steps.event_name': ofRunner(256),
  'run_watches.event_name': ofRunner(256),
  'steps.match_key': OURS,
  'run_watches.match_key': OURS,
  'dedupes.dedupe_id': name(256),
  'runners.runner_key': name(KEY_CHARS_MAX),
  // A key and a colon before the value.
  'run_attributes.attribute': 65 + ofRunner(256),
  // A letter and a colon before an attribute; attributes are longer than names and dedupe ids.
  'scheduled_terms.term': 2 + 65 + ofRunner(256),
  // The index has only the ids of schedules, which are ASCII.
  'flow_rows.key': 128,
  // A bounded key, attempt and index.
  'logs.dedupe': ofRunner(KEY_CHARS_MAX) + 2 * '#9007199254740991'.length,
  'deliveries.destination': ofRunner(KEY_CHARS_MAX),
  'runs.destination': ofRunner(KEY_CHARS_MAX),
  // The value of a key, bounded.
  fair_key: ofRunner(KEY_CHARS_MAX),
  'runs.start_key': ofRunner(KEY_CHARS_MAX),
  // ASCII letters, digits and a few punctuation marks.
  'budgets.name': 64,
  'streams.name': 64,
  'stream_rows.name': 64,
  'step_limits.name': 128,
  ...Object.fromEntries(
    [
      ...[
        'id',
        'run_id',
        'row_id',
        'chain_id',
        'awaited_run_id',
        'new_run_id',
        'source_run_id',
        'event_id',
        'inbox',
        'bulk_id',
        'given_id',
        'first_event_id',
        'trigger_id',
        'replay_of',
        'cleanup_of',
        'delivery_id',
        'endpoint_id',
      ],
      ...['parent_run_id', 'waiting_kind', 'error_key', 'status', 'action', 'policy', 'what', 'slug', 'hash', 'writer'],
      ...[
        'kind',
        'trigger_kind',
        'kind',
        'ended',
        'slot1',
        'slot2',
        'slot3',
        'waits_for_slot',
        'waits_for_budget',
        'start_queue',
        'queue',
        'pool',
        'span',
        'source',
        'event_kind',
        'outcome',
      ],
    ].map(column => [column, OURS]),
  ),
}

const INDEXED = `
SELECT t.relname, i.relname, coalesce(a.attname, ''), coalesce(format_type(a.atttypid, NULL), '')
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid JOIN pg_am m ON m.oid = i.relam
CROSS JOIN LATERAL unnest(x.indkey) AS k(attnum)
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0
WHERE i.relnamespace = current_schema()::regnamespace AND m.amname = 'btree'`

test('no index can be given more than its entries hold', async () => {
  const url = await freshSchema()
  const store = await openPostgresStore({ url })
  onCleanup(() => store.close())
  const client = new Client({ connectionString: url })
  onCleanup(() => client.end())
  await client.connect()
  const { rows } = await client.query<string[]>({ text: INDEXED, rowMode: 'array' })
  const bytes = new Map<string, number>()
  const unbounded: string[] = []
  for (const [table, index, column, type] of rows) {
    const bound = BYTES_MAX[`${table}.${column}`] ?? BYTES_MAX[column as string]
    if (type === 'text' && bound === undefined) unbounded.push(`${table}.${column}`)
    const part = type === 'text' ? (bound ?? 0) + TEXT_HEAD_BYTES : NUMBER_BYTES
    bytes.set(index as string, (bytes.get(index as string) ?? ENTRY_HEAD_BYTES) + part)
  }
  expect(bytes.size).toBeGreaterThan(50)
  expect(unbounded).toEqual([])
  expect([...bytes].filter(([, total]) => total > ENTRY_BYTES_MAX)).toEqual([])
})
