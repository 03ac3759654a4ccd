// Completes ids: a command accepts the beginning of an id if only one id begins with it.

import { ApiError } from '@perdure/client'
import { plain } from '../output/text.ts'
import type { EngineContext } from './commands.ts'
import { UsageError } from './flags.ts'

const WHOLE = /^[a-z]{3}_[0-9A-Z]{26}$/
const KIND = /^(run|evt|dlv|whe|whr)_/
type Kind = 'run' | 'evt' | 'dlv' | 'whe' | 'whr'

/** Most items of a log that are searched for an id. */
const LOOKED_AT_MAX = 2_000
const PAGE = 200
/** How many ids the message about an ambiguous beginning names. */
const NAMED = 3

/**
 * Returns the one id that begins with `given`; or `given` itself if it is whole or no id begins with it: the engine then refuses
 * it. Throws a UsageError if several ids begin with it.
 */
export async function wholeId(context: EngineContext<unknown>, given: string): Promise<string> {
  const kind = KIND.exec(given)?.[1] as Kind | undefined
  if (kind === undefined || WHOLE.test(given)) return given
  if (kind === 'run' && (await isRun(context, given))) return given
  return onlyId(given, begunBy(context, kind, given))
}

/** Returns the only one of `ids`, which all begin with `given`; or `given` itself if it is among them or there is none. */
export async function onlyId(given: string, ids: AsyncIterable<string> | Iterable<string>): Promise<string> {
  const found: string[] = []
  for await (const id of ids) {
    if (id === given) return given
    found.push(id)
    if (found.length > NAMED) break
  }
  if (found.length <= 1) return found[0] ?? given
  const named = found.slice(0, NAMED).join(', ')
  throw new UsageError(plain(`several ids begin with ${given}: ${named}${found.length > NAMED ? ', ...' : ''}`))
}

/** A caller may have chosen the id of a run, so even a short one can be whole. */
async function isRun({ client, signal }: EngineContext<unknown>, id: string): Promise<boolean> {
  try {
    await client.getRun({ id }, { signal })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false
    throw error
  }
}

/** The ids that begin with `given`. */
async function* begunBy(context: EngineContext<unknown>, kind: Kind, given: string): AsyncGenerator<string> {
  let looked = 0
  for await (const { id } of listOf(context, kind, given)) {
    if (id.startsWith(given)) yield id
    if (kind !== 'evt' && kind !== 'dlv') continue
    // Ids sort by time, and these lists are sorted by time, newest first: after an id below `given`, none begins with it.
    if (id < given) return
    looked += 1
    if (looked >= LOOKED_AT_MAX)
      throw new UsageError(plain(`${given} matches none of the newest ids: give the complete id`))
  }
}

async function* listOf(
  { client, signal }: EngineContext<unknown>,
  kind: Kind,
  given: string,
): AsyncGenerator<{ id: string }> {
  const call = { signal }
  switch (kind) {
    case 'run':
      return yield* client.pages.listRuns({ q: given, limit: PAGE }, call)
    case 'evt':
      return yield* client.pages.listEvents({ limit: PAGE }, call)
    case 'dlv':
      return yield* client.pages.listWebhookDeliveries({ limit: PAGE }, call)
    case 'whe':
      return yield* await client.listWebhookEndpoints({}, call)
    case 'whr':
      return yield* await client.listWebhookReceivers({}, call)
  }
}
