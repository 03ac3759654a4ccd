// The filters that pages share: a workflow and its app, the window, and the active filters of the URL.

import { createElement } from 'react'
import { useRead } from '../../data/queries.ts'
import type { FilterField } from '../filter-bar.tsx'
import RangePicker from '../range/range-picker.tsx'
import type { ActiveFilter } from './empty.tsx'

type Get<Name extends string> = (name: Name) => string | undefined
type Set<Name extends string> = (changes: { [Each in Name]?: string | undefined }) => void

/** Returns the fields for a workflow and an app, completed from the registered workflows. */
export function useWorkflowFields(get: Get<'workflow' | 'app'>, set: Set<'workflow' | 'app'>): FilterField[] {
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data ?? []
  return [
    {
      name: 'workflow',
      label: 'Workflow',
      value: get('workflow'),
      known: workflows.map(({ name }) => name),
      onChange: workflow => set({ workflow }),
    },
    {
      name: 'app',
      label: 'App',
      value: get('app'),
      known: [...new Set(workflows.map(({ app }) => app))],
      onChange: app => set({ app }),
    },
  ]
}

/** The windows that pages offer. */
export const WINDOWS = ['1h', '24h', '7d', '30d'] as const

interface WindowOfPage {
  since: string | undefined
  until: string | undefined
  /** Whether the page always has a beginning. */
  isRequired?: boolean
}

/** Returns the window of a page: its beginning, which makes it last until now, followed by the time range, which sets both. */
export function windowFields(
  { since, until, isRequired = false }: WindowOfPage,
  set: Set<'since' | 'until'>,
): FilterField[] {
  return [
    {
      name: 'since',
      label: 'Since',
      value: since,
      choices: WINDOWS,
      isRequired,
      onChange: since => set({ since, until: undefined }),
    },
    {
      name: 'until',
      label: 'Until',
      value: until,
      onChange: until => set({ until }),
      control: createElement(RangePicker),
    },
  ]
}

/** Returns the active filters among these parameters, each with a way to drop it. */
export function activeFilters<Name extends string>(
  names: readonly Name[],
  get: Get<Name>,
  set: Set<Name>,
): ActiveFilter[] {
  return names.flatMap(name => {
    const value = get(name)
    const none = { [name]: undefined } as { [Each in Name]?: undefined }
    return value === undefined ? [] : [{ label: `${name}:${value}`, drop: () => set(none) }]
  })
}
