// The look of the list: columns and density, in the URL and remembered in this browser.

import { useState } from 'react'
import { browserStorage } from '../../data/storage/storage.ts'
import type { useQuery } from '../../router/router.tsx'
import { DEFAULT_COLUMNS } from './columns.tsx'

const STORED = 'perdure.runs.look'

/** The columns and the density of the list, and functions that change them. */
export interface Look {
  columns: readonly string[]
  isDense: boolean
  change(changes: { columns?: readonly string[]; isDense?: boolean }): void
}

interface Stored {
  cols?: string
  rows?: string
}

/** Returns the look in the URL; if there is none, this browser's. */
export function useLook(...[get, set]: ReturnType<typeof useQuery<'runs'>>): Look {
  const [stored, setStored] = useState(readStored)
  const cols = get('cols') ?? stored.cols
  const rows = get('rows') ?? stored.rows
  return {
    columns: cols?.split(',') ?? DEFAULT_COLUMNS,
    isDense: rows === 'compact',
    change: ({ columns, isDense }) => {
      const next = {
        cols: columns ? columns.join(',') || 'none' : cols,
        rows: isDense === undefined ? rows : isDense ? 'compact' : 'comfortable',
      }
      const kept = JSON.parse(JSON.stringify(next)) as Stored
      browserStorage.setItem(STORED, JSON.stringify(kept))
      setStored(kept)
      set(next)
    },
  }
}

function readStored(): Stored {
  try {
    const stored: unknown = JSON.parse(browserStorage.getItem(STORED) ?? '{}')
    const text = (name: keyof Stored) => {
      const value = (stored as Stored | null)?.[name]
      return typeof value === 'string' ? { [name]: value } : {}
    }
    return { ...text('cols'), ...text('rows') }
  } catch {
    return {}
  }
}
