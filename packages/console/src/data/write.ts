// Writes for components, by the id of an operation. Not in the first script: the first page writes nothing.

import type { Calls, Input } from '@perdure/client'
import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useCallback } from 'react'
import { writeClient } from '../session/session.ts'
import { callOf, type OperationId, type ReadId, renew } from './queries.ts'

export interface Callbacks<Reply> {
  onSuccess?(reply: Reply): void
  onError?(error: Error): void
}

export type Write<Id extends ReadId> = Omit<
  UseMutationResult<Calls[Id]['reply'], Error, Input<Id>>,
  'mutate' | 'mutateAsync'
> & { mutate(input: Input<Id>, callbacks?: Callbacks<Calls[Id]['reply']>): void }

/**
 * Writes: `mutate(input)`. Afterwards the reads of `renews` are read again. The callbacks are called although the component
 * is gone by then, as a dialog is: those of react-query's own `mutate` are not.
 */
export function useWrite<Id extends ReadId>(id: Id, renews: readonly OperationId[] = []): Write<Id> {
  const { mutateAsync, ...rest } = useMutation<Calls[Id]['reply'], Error, Input<Id>>({
    mutationFn: input => callOf(writeClient(), id)(input, {}),
    onSuccess: () => renew(...renews),
  })
  const mutate: Write<Id>['mutate'] = useCallback(
    (input, { onSuccess, onError = () => {} } = {}) => void mutateAsync(input).then(onSuccess, onError),
    [mutateAsync],
  )
  return { ...rest, mutate }
}
