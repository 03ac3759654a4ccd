// Finds the target of an entry of the audit log, other than its runs, in the detail that the engine wrote. The members are
// checked, because an older version may have written others. Pure.

import type { Item } from '../../data/queries.ts'
import type { Target } from '../../router/router.tsx'

type Entry = Pick<Item<'listControlActions'>, 'action' | 'detail'>

export interface AuditTarget {
  text: string
  /** Its page, if it has one. */
  target?: Target
}

type Texts = Readonly<Record<string, string | undefined>>

interface Kind {
  /** The members of the detail that may name it; the first one present does. */
  names: readonly string[]
  /** Returns its page, if it has one. `name` is its name. */
  target?(name: string, texts: Texts): Target
}

const WORKFLOW: Kind = {
  names: ['workflow'],
  target: (name, { app = '' }) => ({ to: 'workflow', params: { app, name } }),
}

const KINDS: Readonly<Record<string, Kind>> = {
  endpoint: { names: ['id'], target: id => ({ to: 'endpoint', params: { id } }) },
  receiver: { names: ['id'], target: id => ({ to: 'receiver', params: { id } }) },
  key: { names: ['label', 'id'], target: (_, { id }) => ({ to: 'keys', query: { id } }) },
  schedule: { names: ['id'], target: () => ({ to: 'schedules' }) },
  scheduled_event: { names: ['id'] },
  event: { names: ['eventId'], target: id => ({ to: 'event', params: { id } }) },
  workflow: WORKFLOW,
  buffer: WORKFLOW,
  app: { names: ['app'], target: app => ({ to: 'workflows', query: { app } }) },
  view: { names: ['name', 'id'], target: () => ({ to: 'runs' }) },
  error: { names: ['fingerprint'], target: fingerprint => ({ to: 'errorGroup', params: { fingerprint } }) },
  bulk: { names: ['bulkId'], target: id => ({ to: 'bulk', params: { id } }) },
}

/** Returns nothing for actions on runs, which have their own columns. */
export function targetOf(entry: Entry): AuditTarget | undefined {
  const found = naming(entry)
  if (found === undefined) return undefined
  const { kind, texts, member } = found
  const text = texts[member] as string
  return kind.target ? { text, target: kind.target(text, texts) } : { text }
}

/** Returns the detail without the member that names the target; undefined if nothing else is in it. */
export function restOf(entry: Entry): Readonly<Record<string, unknown>> | undefined {
  const { detail } = entry
  if (typeof detail !== 'object' || detail === null) return undefined
  const member = naming(entry)?.member
  const rest = Object.entries(detail).filter(([name]) => name !== member)
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

function naming({ action, detail }: Entry) {
  const [name = ''] = action.split('.')
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
  if (kind === undefined || (kind === WORKFLOW && textsOf(detail).app === undefined)) return undefined
  const texts = textsOf(detail)
  const member = kind.names.find(each => texts[each] !== undefined)
  return member === undefined ? undefined : { kind, texts, member }
}

/** Whether the entry has this id, or its target has it, or it created or tested the resource with this id. */
export function isAbout(entry: Pick<Item<'listControlActions'>, 'id' | 'detail'>, id: string): boolean {
  return entry.id === id || Object.values(textsOf(entry.detail)).includes(id)
}

function textsOf(detail: unknown): Texts {
  if (typeof detail !== 'object' || detail === null) return {}
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => typeof value === 'string'))
}
