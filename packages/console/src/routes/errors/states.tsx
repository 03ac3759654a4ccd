// The states of error groups: who resolved or ignored a group and when, and the actions that set the state.

import type { Calls } from '@perdure/client'
import { useWrite } from '../../data/write.ts'
import { recount } from '../../live/link.ts'
import { useSession, whyNoWrite } from '../../session/session.ts'
import { WriteButton } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { shortName } from '../../ui/visible-text.ts'
import css from './errors.module.css'

type Group = Calls['listErrors']['reply'][number]
type State = Calls['setErrorState']['reply']['state']

/** The states that the list can be filtered by. */
export const STATES = ['open', 'resolved', 'ignored'] as const

export const isState = (text: string | undefined): text is State => STATES.some(state => state === text)

const VERBS = { resolved: 'Resolve', ignored: 'Ignore', open: 'Reopen' } as const satisfies Record<State, string>
const DONE = { resolved: 'Resolved', ignored: 'Ignored', open: 'Reopened' } as const satisfies Record<State, string>

/** Returns the states that a group can change to. */
const nextOf = ({ state }: Group): State[] =>
  state === 'open' || state === 'regressed' ? ['resolved', 'ignored'] : ['open']

function done(state: State): void {
  recount()
  toast(DONE[state])
}

/** Sets the state of a group. */
function useSetState() {
  const write = useWrite('setErrorState', ['listErrors', 'listControlActions'])
  return ({ fingerprint }: Pick<Group, 'fingerprint'>, state: State) =>
    write.mutate({ fingerprint, body: { state } }, { onSuccess: () => done(state), onError: toastError })
}

export function StateActions({ of: group }: { of: Group }) {
  const set = useSetState()
  return nextOf(group).map(state => (
    <WriteButton key={state} onClick={() => set(group, state)}>
      {VERBS[state]}
    </WriteButton>
  ))
}

/** Returns the same actions for the menu of a row. */
export function useStateMenu() {
  const set = useSetState()
  const disabledBecause = whyNoWrite(useSession())
  return (group: Group) =>
    nextOf(group).map(state => ({ label: VERBS[state], disabledBecause, onSelect: () => set(group, state) }))
}

/** `resolved by ada 5 min ago`; nothing for an open group that nobody has resolved. */
export function StateText({ of: { state, stateSetAt, stateSetBy } }: { of: Group }) {
  if (stateSetAt === undefined) return null
  const by = stateSetBy === undefined ? '' : ` by ${shortName(stateSetBy)}`
  return (
    <span className={state === 'regressed' ? css.regressed : 'mute'}>
      {state === 'regressed' ? `regressed, resolved${by} ` : `${state}${by} `}
      <Moment at={stateSetAt} />
    </span>
  )
}
