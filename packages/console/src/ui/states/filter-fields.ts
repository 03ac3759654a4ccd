// The filters of pages about workflows: the fields for a workflow and its app, and the filters of the URL that hold.

import { useRead } from '../../data/queries.ts'
import type { FilterField } from '../filter-bar.tsx'
import type { ActiveFilter } from './empty.tsx'

type Get<Name extends string> = (name: Name) => string | undefined
type Set<Name extends string> = (changes: { [Each in Name]?: string | undefined }) => void

/** The fields that name a workflow and an app, completed by the workflows that are registered. */
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

/** The field for the end of a window, which only a link sets. */
export function untilField(value: string | undefined, onChange: FilterField['onChange']): FilterField[] {
  return value === undefined ? [] : [{ name: 'until', label: 'Until', value, onChange }]
}

/** The filters of these parameters that hold, each with the way to drop it. */
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
