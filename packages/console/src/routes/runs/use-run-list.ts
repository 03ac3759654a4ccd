// The list of runs, kept live (ui/live-list).

import { useState } from 'react'
import { readPage } from '../../data/queries.ts'
import { type LiveRules, useLiveList } from '../../ui/live-list/use-live-list.ts'
import { noteProgress } from './live-progress.ts'
import { mergeBatch, withoutPosition } from './merge.ts'
import type { ListInput } from './query.ts'

/** Returns the list, and how often its runs have reported their progress, which is not in the rows. */
export function useRunList(input: ListInput, { isFrozen }: { isFrozen: boolean }) {
  const [reports, setReports] = useState(0)
  const [rules] = useState(() => rulesOf(() => setReports(count => count + 1)))
  const { query, rows: runs, news, readAgain } = useLiveList(rules, input, { isFrozen })
  return { query, runs, news, readAgain, reports }
}

/** `onProgress` is called when runs have reported their progress: their rows are rendered again. */
function rulesOf(onProgress: () => void): LiveRules<'listRuns'> {
  return {
    id: 'listRuns',
    topic: 'runs',
    keyOf: ({ id }) => id,
    madeAt: ({ createdAt }) => createdAt,
    merge: (pages, batch, input) => {
      if (noteProgress(batch.frames)) onProgress()
      return mergeBatch(pages, batch, input)
    },
    readRows: async ids => (await readPage('listRuns', { ids, limit: ids.length, position: true } as ListInput)).items,
    unread: withoutPosition,
  }
}
