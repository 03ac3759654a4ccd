// Tables about the store itself.

import { integer, text } from '../description/column.ts'
import { table } from '../description/table.ts'

/** Rises with every write to apps, runners, workflows, endpoints or receivers that changes the catalog. */
export const CATALOG_REVISION = table<{ revision: number }>()('catalog_revision', {
  only: { sqlite: '0', postgres: '0' },
  fixed: { revision: integer },
})

/** The name that the engines on this store use where they share other services with strangers. */
export const CLUSTER = table<{ name: string }>()('cluster', {
  only: { sqlite: 'lower(hex(randomblob(16)))', postgres: `replace(gen_random_uuid()::text, '-', '')` },
  fixed: { name: text },
})

/** The key that signs the tokens which the engines of this store give to runners (services/support/pass-tokens.ts). */
export const TOKEN_KEY = table<{ secret: string }>()('token_key', {
  only: {
    sqlite: 'lower(hex(randomblob(32)))',
    postgres: `replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`,
  },
  fixed: { secret: text },
  since: 2,
})

/** Whether every secret of the store is sealed (1): an engine with an encryption key has sealed all existing ones. */
export const SEALING = table<{ sealed: number }>()('sealing', {
  only: { sqlite: '0', postgres: '0' },
  fixed: { sealed: integer },
})

/** Written to find out whether the store can be written. */
export const PROBES = table<{ count: number }>()('probes', {
  only: { sqlite: '0', postgres: '0' },
  fixed: { count: integer },
})

/**
 * The newest event and run when the stored times were last moved (sqlite/move-times.ts), and the newest time at that moment.
 * Older rows have times by another clock.
 */
export const LAST_MOVE = table<{ newestAt: number; eventPosition: number; runRow: number }>()('last_move', {
  only: { sqlite: '0, 0, 0', postgres: '0, 0, 0' },
  fixed: { newestAt: integer, eventPosition: integer, runRow: integer },
})

/** Retention has removed rows of a kind up to a time: no younger row may be missing. */
export const PRUNE_MARKS = table<{ what: string; upTo: number }>()('prune_marks', {
  key: ['what'],
  fixed: { what: text, upTo: integer },
})

/**
 * A store has this table while a move into it is not finished (move/progress.ts). It belongs to no version of the schema, and
 * no engine opens such a store.
 */
export const MOVE_TABLE = 'move_progress'
export const UNFINISHED_MOVE =
  'a move into this store is not finished: repeat the same perdure move, or start over with --restart'
