// Reads what an entry of the audit log is about, besides its runs, from the detail that the engine wrote. The members are checked,
// because an older version may have written others. Pure.

import type { Item } from '../../data/queries.ts'
import type { Target } from '../../router/router.tsx'

type Entry = Pick<Item<'listControlActions'>, 'action' | 'detail'>

export interface AuditTarget {
  text: string
  /** Its page, if it has one. */
  target?: Target
}

type Texts = Readonly<Record<string, string | undefined>>

const OF: Readonly<Record<string, (texts: Texts) => AuditTarget | undefined>> = {
  endpoint: ({ id }) => named(id, id => ({ to: 'endpoint', params: { id } })),
  receiver: ({ id }) => named(id, id => ({ to: 'receiver', params: { id } })),
  key: ({ id, label }) => named(label ?? id, () => ({ to: 'keys', query: { id } })),
  schedule: ({ id }) => named(id, () => ({ to: 'schedules' })),
  scheduled_event: ({ id }) => named(id),
  event: ({ eventId }) => named(eventId, id => ({ to: 'event', params: { id } })),
  workflow: ofWorkflow,
  buffer: ofWorkflow,
  app: ({ app }) => named(app, app => ({ to: 'workflows', query: { app } })),
  bulk: ({ bulkId }) => named(bulkId, id => ({ to: 'bulk', params: { id } })),
}

function named(text: string | undefined, target?: (text: string) => Target): AuditTarget | undefined {
  if (text === undefined) return undefined
  return target ? { text, target: target(text) } : { text }
}

function ofWorkflow({ app, workflow }: Texts): AuditTarget | undefined {
  if (app === undefined || workflow === undefined) return undefined
  return { text: workflow, target: { to: 'workflow', params: { app, name: workflow } } }
}

/** Nothing for actions on runs, which have columns of their own. */
export function targetOf({ action, detail }: Entry): AuditTarget | undefined {
  const [kind = ''] = action.split('.')
  return Object.hasOwn(OF, kind) ? OF[kind]?.(textsOf(detail)) : undefined
}

/** Whether the entry has this id, is about the resource of this id, or made or tested it. */
export function isAbout(entry: Pick<Item<'listControlActions'>, 'id' | 'detail'>, id: string): boolean {
  return entry.id === id || Object.values(textsOf(entry.detail)).includes(id)
}

function textsOf(detail: unknown): Texts {
  if (typeof detail !== 'object' || detail === null) return {}
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => typeof value === 'string'))
}
