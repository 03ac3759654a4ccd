// The list of runs, kept live (ui/live-list).

import { useState } from 'react'
import { readPage } from '../../data/queries.ts'
import { type LiveRules, useLiveList } from '../../ui/live-list/use-live-list.ts'
import { noteProgress } from './live-progress.ts'
import { isNew, merge, movesQueues, needsRead, newestOf, withoutPosition } from './merge.ts'
import type { ListInput } from './query.ts'

/** The list, and how often its runs reported their progress, which is not in the rows. */
export function useRunList(input: ListInput, { isHeld }: { isHeld: boolean }) {
  const [reports, setReports] = useState(0)
  const [rules] = useState(() => rulesOf(() => setReports(count => count + 1)))
  const { query, rows: runs, news, readAgain } = useLiveList(rules, input, { isHeld })
  return { query, runs, news, readAgain, reports }
}

/** `onProgress` is called when runs reported their progress: their rows are shown anew. */
function rulesOf(onProgress: () => void): LiveRules<'listRuns'> {
  return {
    id: 'listRuns',
    topic: 'runs',
    keyOf: ({ id }) => id,
    madeAt: ({ createdAt }) => createdAt,
    merge: (pages, { frames, isSampled }, input) => {
      if (noteProgress(frames)) onProgress()
      const merged = merge(pages, frames, { isSampled })
      const newest = newestOf(pages)
      const added = merged.unknown.filter(frame => isNew(frame, newest, input)).map(({ runId }) => String(runId))
      const isOld = movesQueues(pages, frames)
      return needsRead(input)
        ? { pages: merged.pages, added: [], isOld: isOld || added.length > 0 }
        : { pages: merged.pages, added, isOld }
    },
    readRows: async ids => (await readPage('listRuns', { ids, limit: ids.length, position: true } as ListInput)).items,
    unread: withoutPosition,
  }
}
