// Reads the steps of a run: for the run page, for its children and for the run that a fork is compared with.

import { type QueryFunctionContext, useQuery } from '@tanstack/react-query'
import { keyOf } from '../../../data/queries.ts'
import { plainClient, readClient, useSession } from '../../../session/session.ts'
import type { WaterfallStep } from '../../../waterfall/model.ts'
import { listOf, type StepList, unchangedPages } from './step-pages.ts'

export type { StepList } from './step-pages.ts'

/** The first page is small, so that it appears at once; the others are as large as the engine allows. */
const FIRST_PAGE = 200
const LATER_PAGE = 2000
/** Pages with results are shorter: the engine's limit. */
const FULL_PAGE = 200

/** During the first read, steps are shown after the first page, and then at most this often. */
const SHOW_MS = 400

/** Reads the pages that may have changed. The first read shows pages before all have arrived; later reads replace everything. */
async function readSteps(id: string, { client, queryKey, signal }: QueryFunctionContext): Promise<StepList> {
  const before = client.getQueryData<StepList>(queryKey)
  const pages = before === undefined ? [] : unchangedPages(before)
  const engine = plainClient()
  let shownAt = Number.NEGATIVE_INFINITY
  do {
    if (pages.length > 0 && !before?.isWhole && performance.now() - shownAt > SHOW_MS) {
      client.setQueryData(queryKey, listOf(pages))
      shownAt = performance.now()
    }
    const limit = pages.length === 0 ? FIRST_PAGE : LATER_PAGE
    const cursor = pages.at(-1)?.nextCursor
    pages.push(await engine.listRunSteps({ id, fields: 'summary', limit, cursor }, { signal }))
  } while (pages.at(-1)?.nextCursor !== undefined)
  return listOf(pages)
}

/** Returns the query of the steps of a run. */
export function stepsQuery(id: string) {
  return {
    queryKey: keyOf('listRunSteps', { id, fields: 'summary' }),
    queryFn: (context: QueryFunctionContext) => readSteps(id, context),
    placeholderData: undefined,
  }
}

/** Reads the steps of a run, without their results. */
export function useSteps(id: string) {
  const { status } = useSession()
  return useQuery({ ...stepsQuery(id), enabled: status === 'ready' })
}

/** Reads the steps of a run with their results, page by page: for components that need every result. */
export function useStepsWithResults(id: string, enabled = true) {
  const { status } = useSession()
  return useQuery({
    queryKey: keyOf('listRunSteps', { id }),
    queryFn: async ({ signal }): Promise<WaterfallStep[]> => {
      const steps: WaterfallStep[] = []
      let cursor: string | undefined
      do {
        const page = await readClient().listRunSteps({ id, limit: FULL_PAGE, cursor }, { signal })
        steps.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return steps
    },
    placeholderData: undefined,
    enabled: enabled && status === 'ready',
  })
}
