// Reads the steps of a run: of the run page, of its children and of the run that a fork is compared with.

import { useQuery } from '@tanstack/react-query'
import { keyOf } from '../../../data/queries.ts'
import { readClient, useSession } from '../../../session/session.ts'
import type { WaterfallStep } from '../../../waterfall/model.ts'

/** All steps of a run, in execution order: without a limit they are one page. */
async function readSteps(id: string, signal: AbortSignal): Promise<WaterfallStep[]> {
  return (await readClient().listRunSteps({ id }, { signal })).items
}

/** The query of the steps of a run. */
export function stepsQuery(id: string) {
  return {
    queryKey: keyOf('listRunSteps', { id }),
    queryFn: ({ signal }: { signal: AbortSignal }) => readSteps(id, signal),
    placeholderData: undefined,
  }
}

/** Reads the steps of a run. */
export function useSteps(id: string) {
  const { status } = useSession()
  return useQuery({ ...stepsQuery(id), enabled: status === 'ready' })
}
