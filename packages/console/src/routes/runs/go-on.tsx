// Shown below a search that stopped at its time limit, or a list that has read all it reads automatically: how far it came, and a
// button to continue.

import type { Page } from '@perdure/client'
import type { InfiniteData } from '@tanstack/react-query'
import { Button } from '../../ui/button.tsx'
import { Polite } from '../../ui/overlay/polite.tsx'
import styles from '../../ui/table/data-table.module.css'
import { localTime } from '../../ui/time.ts'
import type { Run } from './columns.tsx'

interface GoOnProps {
  count: number
  last: Run | undefined
  query: { data: InfiniteData<Page<Run>> | undefined; isFetchingNextPage: boolean; fetchNextPage(): unknown }
}

export default function GoOn({ count, last, query }: GoOnProps) {
  const backTo = query.data?.pages.at(-1)?.scannedTo ?? last?.createdAt
  const found = `${count} found`
  return (
    <div className={styles.more}>
      <Polite
        text={backTo === undefined ? `${found}.` : `Searched back to ${localTime(Date.parse(backTo))}: ${found}.`}
      />
      <Button onClick={() => void query.fetchNextPage()}>{query.isFetchingNextPage ? 'Searching…' : 'Continue'}</Button>
    </div>
  )
}
