// The input of the runs list: converts the URL's parameters to the engine's.

import type { Input } from '@perdure/client'
import type { RunFilterName } from '@perdure/protocol'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { type QueryName, VALUE_BREAK } from '../../router/routes.ts'
import { NAMES_ALONE } from './box/qualifiers.ts'

export type ListInput = Input<'listRuns'>
/** The filters of the list that the page lacks. */
export type NotOfPage = 'kind' | 'eventId' | 'replayOf' | 'runner' | 'ids'
type Get = (name: QueryName<'runs'>) => string | undefined

const PAGE_ROWS = 100

/** Returns the input of the list. The engine refuses values that it does not know, with the reason. */
export function listInput(get: Get, now = engineNow()): ListInput {
  const timeOf = (name: QueryName<'runs'>) => sinceParam(get(name), now) ?? get(name)
  // A filter of the list that neither the page has nor `NotOfPage` names does not compile.
  const filters = {
    q: get('q'),
    deep: get('q') && get('deep') !== NAMES_ALONE ? true : undefined,
    app: get('app'),
    workflow: get('workflow'),
    status: get('status'),
    runType: get('type'),
    waitingFor: get('waiting'),
    error: get('error'),
    parentRunId: get('parent'),
    root: get('root') === 'true' || get('root'),
    bulkId: get('bulk'),
    key: get('key'),
    attribute: get('attribute')?.split(VALUE_BREAK),
    since: timeOf('since'),
    until: timeOf('until'),
    endedSince: timeOf('ended-since'),
    endedUntil: timeOf('ended-until'),
  } satisfies { readonly [Name in Exclude<RunFilterName, NotOfPage>]: unknown }
  const input = {
    limit: PAGE_ROWS,
    partial: true,
    position: true,
    ...filters,
    sort: get('sort'),
    dir: get('dir'),
  }
  // The URL is text: the engine checks the values of the enumerations.
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as ListInput
}
