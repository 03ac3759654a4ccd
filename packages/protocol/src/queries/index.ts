// The query parameters of every operation, by its id. They are separate from the operations, whose schemas take a hundred
// milliseconds to load: the command line, which makes its options from them, loads only these.

import { control } from './control.ts'
import { events } from './events.ts'
import { registry } from './registry.ts'
import { runs } from './runs.ts'
import { statistics } from './statistics.ts'
import { webhooks } from './webhooks.ts'

export type { QueryParam, QueryParams } from './param.ts'

export const queries = { ...runs, ...statistics, ...events, ...registry, ...webhooks, ...control }
export type Queries = typeof queries
