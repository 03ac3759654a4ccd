// The send page: what an event would start, as it is typed, and sending it, which is a second, separate act.

import type { EventRecord, SendEventReply } from '@perdure/protocol'
import { lazy, Suspense, useEffect, useState } from 'react'
import { RawJson, sourceOf } from '../../data/json/parse.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { EffectChips } from '../events/effect-chips.tsx'
import { DryRun } from './dry-run.tsx'
import css from './send-event.module.css'

const JsonEditor = lazy(() => import('../../ui/editor/json-editor.tsx'))

const QUIET_MS = 400
/** A draft is shared by its URL up to this size. */
const DRAFT_MAX = 2048

interface Draft {
  name: string
  app: string
  dedupeId: string
  data: string
}

export default function SendEventPage() {
  const [get] = useQuery('sendEvent')
  const like = get('like')
  const source = useRead('getEvent', { id: like ?? '' }, { enabled: like !== undefined, keep: false })
  if (like === undefined) {
    const draft = { name: get('name') ?? '', app: get('app') ?? '', dedupeId: '', data: get('data') ?? '{}' }
    return <SendEvent first={draft} />
  }
  return source.data ? (
    <SendEvent key={like} first={draftOf(source.data)} />
  ) : (
    <Page title="Send an event">
      <Loaded query={source}>{() => null}</Loaded>
    </Page>
  )
}

function draftOf({ name, app = '', data }: EventRecord): Draft {
  return { name, app, dedupeId: '', data: data === undefined ? '' : sourceOf(data) }
}

function SendEvent({ first }: { first: Draft }) {
  const [draft, setDraft] = useState(first)
  const [sent, setSent] = useState<SendEventReply>()
  const settled = useSettled(draft)
  const send = useWrite('sendEvent', ['listEvents', 'listRuns'])
  const isUsable = draft.name !== '' && jsonError(draft.data) === undefined
  const set = (change: Partial<Draft>) => {
    setDraft(before => ({ ...before, ...change }))
    setSent(undefined)
  }
  const submit = () =>
    send.mutate({ body: bodyOf(draft) as never }, { onSuccess: reply => setSent(reply as SendEventReply) })
  return (
    <Page
      title="Send an event"
      actions={
        <>
          <CopyAs draft={draft} />
          <WriteButton
            kind="primary"
            disabledBecause={isUsable ? undefined : 'it needs a name and JSON'}
            onClick={submit}
          >
            Send
          </WriteButton>
        </>
      }
    >
      <div className={css.sides}>
        <Panel title="Event">
          <Form draft={draft} first={first} onChange={set} />
          {send.error && (
            <p role="alert" className={css.problem}>
              {send.error.message}
            </p>
          )}
        </Panel>
        {sent ? (
          <Panel title="Sent">
            <Sent reply={sent} />
          </Panel>
        ) : (
          <Panel title="What it would start">
            <DryRun
              body={settled && jsonError(settled.data) === undefined ? bodyOf(settled) : undefined}
              name={draft.name}
            />
          </Panel>
        )}
      </div>
    </Page>
  )
}

function Form({ draft, first, onChange }: { draft: Draft; first: Draft; onChange(change: Partial<Draft>): void }) {
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
          App, when only its workflows should start
          <input value={draft.app} spellCheck={false} onChange={event => onChange({ app: event.target.value })} />
        </label>
        <label>
          Dedupe id, so that sending twice counts once
          <span className={css.withButton}>
            <input
              value={draft.dedupeId}
              spellCheck={false}
              onChange={event => onChange({ dedupeId: event.target.value })}
            />
            <button type="button" onClick={() => onChange({ dedupeId: crypto.randomUUID() })}>
              New
            </button>
          </span>
        </label>
      </div>
      <div>
        <span className={css.label}>Data</span>
        <div className={css.editor}>
          <Suspense fallback={<pre>{first.data}</pre>}>
            <JsonEditor text={first.data} label="Data of the event" onChange={data => onChange({ data })} />
          </Suspense>
        </div>
        {problem !== undefined && <p className={css.problem}>{problem}</p>}
      </div>
    </div>
  )
}

function Sent({ reply }: { reply: SendEventReply }) {
  if (reply.eventId === undefined) return <p>Dropped: an event with this dedupe id came before.</p>
  return (
    <div className={css.form}>
      <p>
        <Link target={{ to: 'event', params: { id: reply.eventId } }}>{reply.eventId}</Link>
      </p>
      <EffectChips event={{ triggered: reply.triggered ?? [], woke: reply.woke ?? 0 }} />
      {reply.suspended && <p>The namespace is suspended: nothing was started.</p>}
      {reply.warnings?.map(warning => (
        <p key={warning} className={css.problem}>
          {warning}
        </p>
      ))}
    </div>
  )
}

function CopyAs({ draft }: { draft: Draft }) {
  const [, set] = useQuery('sendEvent')
  const text = JSON.stringify({ name: draft.name, ...(draft.app && { app: draft.app }) }).slice(0, -1)
  const body = draft.data.trim() === '' ? `${text}}` : `${text},"data":${draft.data}}`
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  return (
    <Menu
      label="Copy as"
      items={[
        {
          label: 'curl',
          onSelect: () =>
            void copyText(`curl ${ENGINE_URL}/events -H 'content-type: application/json' -d ${quoted(body)}`),
        },
        {
          label: 'perdure command',
          onSelect: () => void copyText(`perdure events send ${quoted(draft.name)} --data ${quoted(draft.data)}`),
        },
        {
          label: 'link to this draft',
          disabledBecause: draft.data.length > DRAFT_MAX ? 'a link holds 2 KB of data' : undefined,
          onSelect: () => {
            set({ name: draft.name, app: draft.app, data: draft.data, like: undefined })
            void copyText(location.href, 'The link is copied')
          },
        },
      ]}
    />
  )
}

/** The body of the request, its data as it was typed. */
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

/** The draft once nothing was typed for a moment. */
function useSettled(draft: Draft): Draft | undefined {
  const [settled, setSettled] = useState(draft.name === '' ? undefined : draft)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(draft.name === '' ? undefined : draft), QUIET_MS)
    return () => clearTimeout(timer)
  }, [draft])
  return settled
}
