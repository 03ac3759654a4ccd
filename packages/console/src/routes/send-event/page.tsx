// The send page: shows what an event would start while it is typed, and sends it in a second, separate act.

import type { EventRecord, SendEventReply } from '@perdure/protocol'
import { matchText } from '@perdure/protocol/portable'
import { type ReactNode, useEffect, useState } from 'react'
import { RawJson, sourceOf } from '../../data/json/parse.ts'
import { randomId } from '../../data/json/random-id.ts'
import { useRead } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Commands } from '../../ui/overlay/commands.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { useVeil } from '../../ui/veil.ts'
import { shortName } from '../../ui/visible-text.ts'
import { EffectChips } from '../events/effect-chips.tsx'
import { DataField } from './data-field.tsx'
import { DryRun } from './dry-run.tsx'
import css from './send-event.module.css'
import { dataFor } from './wait-draft.ts'

const QUIET_MS = 400
/** A draft is shared by its URL up to this size. */
const DRAFT_MAX = 2048

interface Draft {
  name: string
  app: string
  dedupeId: string
  data: string
}

/** A draft. It gets the id of its first send when it is opened. */
type FirstDraft = Omit<Draft, 'dedupeId'>

export default function SendEventPage() {
  const [get] = useQuery('sendEvent')
  const like = get('like')
  const wait = get('wait')
  if (wait !== undefined) return <SendToWait key={wait} runId={wait} />
  return <SendLike like={like} />
}

/** An event for a waiting run: its name and data are the ones that the wait would accept. */
function SendToWait({ runId }: { runId: string }) {
  const { isHidden } = useVeil()
  const run = useRead('getRun', { id: runId }, { keep: false })
  const why = useRead('explainRun', { id: runId }, { keep: false })
  if (!run.data || !why.data)
    return (
      <Page title="Send an event">
        <Loaded query={run.data ? why : run}>{() => null}</Loaded>
      </Page>
    )
  const { event } = why.data
  if (!event)
    return <SendEvent first={{ name: '', app: '', data: '{}' }} note="The run no longer waits for an event." />
  const { eventId: id, eventName = run.data.workflow, input } = run.data
  const started = { id, name: eventName, data: isHidden ? undefined : input }
  return (
    <SendEvent
      first={{ name: event.name, app: '', data: dataFor(event, started) }}
      note={
        <>
          For run <Link target={{ to: 'run', params: { id: runId } }}>{runId}</Link>, waiting
          {why.data.waitingFor?.stepName !== undefined && ` at ${shortName(why.data.waitingFor.stepName)}`} for this
          event{event.if === undefined && event.match === undefined ? '.' : ' with '}
          {event.match !== undefined && <code>{matchText(event.match)}</code>}
          {event.match !== undefined && event.if !== undefined && ' and '}
          {event.if !== undefined && (
            <>
              the filter <code>{event.if}</code>
            </>
          )}
        </>
      }
    />
  )
}

function SendLike({ like }: { like: string | undefined }) {
  const [get] = useQuery('sendEvent')
  const { isHidden } = useVeil()
  const source = useRead('getEvent', { id: like ?? '' }, { enabled: like !== undefined, keep: false })
  if (like === undefined) {
    return <SendEvent first={{ name: get('name') ?? '', app: get('app') ?? '', data: get('data') ?? '{}' }} />
  }
  return source.data ? (
    <SendEvent key={like} first={draftOf({ ...source.data, name: get('name') ?? source.data.name }, isHidden)} />
  ) : (
    <Page title="Send an event">
      <Loaded query={source}>{() => null}</Loaded>
    </Page>
  )
}

/** Copies the event; without its data while payloads are hidden. */
function draftOf({ name, app = '', data }: EventRecord, isHidden: boolean): FirstDraft {
  return { name, app, data: data === undefined || isHidden ? '' : sourceOf(data) }
}

function SendEvent({ first, note }: { first: FirstDraft; note?: ReactNode }) {
  const [draft, setDraft] = useState<Draft>(() => ({ ...first, dedupeId: randomId() }))
  const [sent, setSent] = useState<SendEventReply>()
  const settled = useSettled(draft)
  const send = useWrite('sendEvent', ['listEvents', 'listRuns'])
  const isUsable = draft.name !== '' && jsonError(draft.data) === undefined
  const set = (change: Partial<Draft>) => {
    // A change after a send makes it another event, unless the id was cleared.
    const renewed = sent && draft.dedupeId !== '' ? { dedupeId: randomId() } : {}
    setDraft(before => ({ ...before, ...renewed, ...change }))
    setSent(undefined)
  }
  const submit = () =>
    send.mutate({ body: bodyOf(draft) as never }, { onSuccess: setSent, onError: () => setSent(undefined) })
  return (
    <Page
      title="Send an event"
      actions={
        <>
          <ShareDraft draft={draft} />
          <WriteButton
            kind="primary"
            disabledBecause={whyNotSent({ isUsable, isPending: send.isPending, isSent: sent !== undefined })}
            onClick={submit}
          >
            Send
          </WriteButton>
        </>
      }
    >
      <div className={css.sides}>
        <Panel title="Event">
          {note !== undefined && <p className={css.note}>{note}</p>}
          <Form draft={draft} first={first} onChange={set} />
          {isUsable && <Commands call={{ id: 'sendEvent', input: { body: bodyOf(draft) as never } }} />}
          {send.error && (
            <p role="alert" className={css.problem}>
              {send.error.message}
            </p>
          )}
        </Panel>
        {sent ? (
          <Panel title="Sent">
            <Sent reply={sent} />
            <Button onClick={() => set({})}>Send another</Button>
          </Panel>
        ) : (
          <Panel title="Preview">
            <DryRun
              body={settled && jsonError(settled.data) === undefined ? bodyOf(settled) : undefined}
              name={draft.name}
              onName={name => set({ name })}
            />
          </Panel>
        )}
      </div>
    </Page>
  )
}

function whyNotSent(state: { isUsable: boolean; isPending: boolean; isSent: boolean }): string | undefined {
  if (!state.isUsable) return 'enter a name and valid JSON'
  if (state.isPending) return 'sending the event'
  return state.isSent ? 'already sent: change it, or choose Send another' : undefined
}

function Form({ draft, first, onChange }: { draft: Draft; first: FirstDraft; onChange(change: Partial<Draft>): void }) {
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data ?? []
  const names = [...new Set(workflows.flatMap(({ triggers }) => triggers.flatMap(({ event }) => event ?? [])))].sort()
  const problem = jsonError(draft.data)
  return (
    <div className={css.form}>
      <label>
        Name
        <input
          list="event-names"
          value={draft.name}
          spellCheck={false}
          onChange={event => onChange({ name: event.target.value })}
        />
      </label>
      <datalist id="event-names">
        {names.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div className={css.pair}>
        <label>
          Only workflows in this app
          <input value={draft.app} spellCheck={false} onChange={event => onChange({ app: event.target.value })} />
        </label>
        <label>
          Deduplication ID
          <span className={css.withButton}>
            <input
              value={draft.dedupeId}
              spellCheck={false}
              onChange={event => onChange({ dedupeId: event.target.value })}
            />
            <button type="button" onClick={() => onChange({ dedupeId: randomId() })}>
              New
            </button>
          </span>
        </label>
      </div>
      <div>
        <DataField first={first.data} draft={draft} onChange={data => onChange({ data })} />
        {problem !== undefined && <p className={css.problem}>{problem}</p>}
      </div>
    </div>
  )
}

function Sent({ reply }: { reply: SendEventReply }) {
  const { eventId, deduped, triggered } = reply
  // If the event's idempotency key was used before, the reply has `triggered`.
  if (eventId === undefined || (deduped && triggered === undefined))
    return (
      <p>
        Dropped: an event with this deduplication ID exists already
        {eventId !== undefined && ': '}
        {eventId !== undefined && <Link target={{ to: 'event', params: { id: eventId } }}>{eventId}</Link>}.
      </p>
    )
  return (
    <div className={css.form}>
      <p>
        <Link target={{ to: 'event', params: { id: eventId } }}>{eventId}</Link>
      </p>
      <EffectChips event={{ triggered: triggered ?? [], woke: reply.woke ?? 0 }} />
      {reply.suspended && <p>The namespace is suspended: no runs started.</p>}
      {reply.warnings?.map(warning => (
        <p key={warning} className={css.problem}>
          {warning}
        </p>
      ))}
    </div>
  )
}

/** Writes the draft into the address, and copies the address. */
function ShareDraft({ draft }: { draft: Draft }) {
  const [, set] = useQuery('sendEvent')
  const share = () => {
    set({ name: draft.name, app: draft.app, data: draft.data, like: undefined, wait: undefined })
    void copyText(location.href, 'Link copied')
  }
  return (
    <Button
      disabledBecause={draft.data.length > DRAFT_MAX ? 'a link can hold 2 KB of data' : undefined}
      onClick={share}
    >
      Copy link to draft
    </Button>
  )
}

/** Returns the body of the request, with its data as it was typed. */
function bodyOf({ name, app, dedupeId, data }: Draft): Record<string, unknown> {
  return {
    name,
    ...(app === '' ? {} : { app }),
    ...(dedupeId === '' ? {} : { dedupeId }),
    ...(data.trim() === '' ? {} : { data: new RawJson(data) }),
  }
}

function jsonError(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Returns the draft once nothing was typed for a moment. */
function useSettled(draft: Draft): Draft | undefined {
  const [settled, setSettled] = useState(draft.name === '' ? undefined : draft)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(draft.name === '' ? undefined : draft), QUIET_MS)
    return () => clearTimeout(timer)
  }, [draft])
  return settled
}
