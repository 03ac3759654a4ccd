// Writes for components, by the id of an operation. Not in the first script: the first page writes nothing.

import type { Calls, Input } from '@perdure/client'
import { useCallback, useRef, useState } from 'react'
import { writeClient } from '../session/session.ts'
import { callOf, noteFailure, type OperationId, type ReadId, renew } from './queries.ts'
import { bodyOf, withUnsure } from './unsure.ts'

/** The engine gives up counting for a bulk action after 30 s, and answers what to narrow: wait for that answer. */
const WRITE_TIMEOUT_MS = 45_000

/** Maximum time that callbacks wait for the reads of the written data: a new secret must be shown before it is lost. */
const RENEW_MS_MAX = 2000

export interface Callbacks<Reply> {
  onSuccess?(reply: Reply): void
  onError?(error: Error): void
}

/** The result of the newest call. */
interface Outcome<Reply> {
  data?: Reply | undefined
  error: Error | null
  isPending: boolean
}

export interface Write<Id extends ReadId> extends Outcome<Calls[Id]['reply']> {
  mutate(input: Input<Id>, callbacks?: Callbacks<Calls[Id]['reply']>): void
}

const NOTHING = { error: null, isPending: false } as const

/**
 * Writes: `mutate(input)`. Afterwards the reads of `renews` are read again. The callbacks are called even if the component, such
 * as a dialog, has disappeared.
 */
export function useWrite<Id extends ReadId>(id: Id, renews: readonly OperationId[] = []): Write<Id> {
  type Reply = Calls[Id]['reply']
  const [outcome, setOutcome] = useState<Outcome<Reply>>(NOTHING)
  const newest = useRef(0)
  const underWay = useRef(new Set<string>())
  const options = useRef({ id, renews })
  options.current = { id, renews }
  const mutate = useCallback((input: Input<Id>, { onSuccess, onError }: Callbacks<Reply> = {}) => {
    const { id, renews } = options.current
    // The second click of a double click comes before its button is disabled or gone.
    const key = JSON.stringify([id, input])
    if (underWay.current.has(key) && !bodyOf(input).dryRun) return
    underWay.current.add(key)
    const call = ++newest.current
    const settle = (next: Outcome<Reply>) => {
      if (call === newest.current) setOutcome(next)
    }
    const write = async () => {
      const call = callOf(writeClient(), id)(input, { timeoutMs: WRITE_TIMEOUT_MS }) as Promise<Reply>
      const data = await call.finally(() => underWay.current.delete(key))
      settle({ ...NOTHING, data })
      await Promise.race([renew(...renews), new Promise(resolve => setTimeout(resolve, RENEW_MS_MAX))])
      return data
    }
    settle({ error: null, isPending: true })
    write().then(
      data => onSuccess?.(data),
      (failure: Error) => {
        noteFailure(failure)
        const error = withUnsure(failure, id, input)
        if (error !== failure) void renew(...renews)
        settle({ error, isPending: false })
        onError?.(error)
      },
    )
  }, [])
  return { ...outcome, mutate }
}
