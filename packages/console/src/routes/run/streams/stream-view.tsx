// One output stream, live: its text or its chunks, withdrawn parts struck through, and its end. Only the newest part is in the
// document; earlier parts are shown on request.

import type { RunStream } from '@perdure/protocol'
import { cutText } from '@perdure/protocol/portable'
import { type ReactNode, useEffect, useReducer, useRef, useState } from 'react'
import { sourceOf } from '../../../data/json/parse.ts'
import { useTopic } from '../../../live/use-live.ts'
import { Link, useQuery } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { veiledText } from '../../../ui/json/veil-json.ts'
import { copyText } from '../../../ui/overlay/copy.tsx'
import { Polite } from '../../../ui/overlay/polite.tsx'
import { useVeil } from '../../../ui/veil.ts'
import { Visible } from '../../../ui/visible.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import tabs from '../tabs/tabs.module.css'
import {
  type Chunk,
  newest,
  type Rollback,
  type StreamEnd,
  StreamLog,
  type StreamMessage,
  textParts,
} from './stream-log.ts'
import css from './streams.module.css'

/** Number of entries and characters in the document at first, and added on each request. */
const CHUNKS_SHOWN = 500
const TEXTS_SHOWN = 5000
const CHARS_SHOWN = 200_000
/** Maximum number of characters shown of one chunk. */
const CHUNK_CHARS = 4096
/** A reader who is this close to the end follows it. */
const NEAR_END_PX = 24

export interface StreamViewProps {
  runId: string
  stream: RunStream
  isLive: boolean
  /** Whether the timeline has a step of this name. */
  hasStep(name: string): boolean
}

export function StreamView({ runId, stream, isLive, hasStep }: StreamViewProps) {
  const [get, set] = useQuery('run')
  const isDropped = stream.dropped === true
  const { log, version } = useStreamLog(isDropped ? undefined : `run:${runId}:${stream.name}`)
  const [pages, addPage] = useReducer((count: number) => count + 1, 1)
  const [follows, setFollows] = useState(true)
  const box = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new messages make it longer.
  useEffect(() => {
    if (follows && isLive) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [version, follows, isLive])
  if (isDropped) return <p className={tabs.none}>Retention has dropped the messages of this stream.</p>
  const hasText = log.entries.some(entry => entry.kind === 'chunk' && typeof entry.value === 'string')
  const isText = get('as') !== 'chunks' && (hasText || log.entries.length === 0)
  const shown = newest(log.entries, {
    count: (isText ? TEXTS_SHOWN : CHUNKS_SHOWN) * pages,
    chars: CHARS_SHOWN * pages,
  })
  const earlier = log.entries.length - shown.length
  const toStep = (step: string) => set({ tab: undefined, as: undefined, step })
  const parts = { hasStep, onStep: toStep }
  return (
    <section className={tabs.tab} aria-label={`Stream ${shortName(stream.name)}`}>
      <div className={tabs.tools} role="toolbar" aria-label="Stream">
        <Button
          aria-pressed={isText}
          disabledBecause={hasText || isText ? undefined : 'no chunk is text'}
          onClick={() => set({ as: undefined })}
        >
          Text
        </Button>
        <Button aria-pressed={!isText} onClick={() => set({ as: 'chunks' })}>
          Chunks
        </Button>
        {isLive && (
          <Button aria-pressed={follows} onClick={() => setFollows(!follows)}>
            Follow
          </Button>
        )}
        {hasText && <Button onClick={() => void copyText(countedText(log), 'Text copied')}>Copy text</Button>}
        <span className={tabs.count}>
          {log.chunks} {log.chunks === 1 ? 'chunk' : 'chunks'}
        </span>
      </div>
      {earlier > 0 && <Button onClick={addPage}>{earlier} earlier messages</Button>}
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too.
        tabIndex={0}
        aria-label="Messages of the stream"
        className={css.box}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setFollows(scrollHeight - scrollTop - clientHeight < NEAR_END_PX)
        }
      >
        {isText ? <Texts entries={shown} {...parts} /> : <Chunks entries={shown} {...parts} />}
        {log.entries.length === 0 && <p className={tabs.none}>Nothing has been written yet.</p>}
      </section>
      <Polite className="visually-hidden" text={log.end ? `The stream has ended: ${log.end.status}` : ''} />
    </section>
  )
}

/** Returns the messages of a topic; `version` changes with them. */
function useStreamLog(topic: `run:${string}` | undefined): { log: StreamLog; version: number } {
  const [log] = useState(() => new StreamLog())
  const [version, change] = useReducer((count: number) => count + 1, 0)
  useTopic(topic, {
    onBatch: ({ frames }) => {
      const added = frames.map(({ kind, messages }) => kind === 'stream' && log.add(messages as StreamMessage[]))
      if (added.includes(true)) change()
    },
    // The connection resumes after the last message.
    onGap: async () => {},
  })
  return { log, version }
}

/** Returns the texts that were not withdrawn, joined. */
const countedText = ({ entries }: StreamLog): string =>
  entries
    .flatMap(entry =>
      entry.kind === 'chunk' && !entry.withdrawnBy && typeof entry.value === 'string' ? [entry.value] : [],
    )
    .join('')

interface PartsProps {
  entries: ReturnType<typeof newest>
  hasStep(name: string): boolean
  onStep(name: string): void
}

function Texts({ entries, ...rest }: PartsProps) {
  const { isHidden } = useVeil()
  return textParts(entries).map(part => {
    if (part.kind !== 'text') return <Note key={part.n} note={part} {...rest} />
    const text = isHidden ? `string(${part.text.length})` : part.text
    return (
      <div key={part.n} className={css.part}>
        <StepButton of={part} {...rest} />
        <Counted withdrawnBy={part.withdrawnBy} className={css.text}>
          <Visible text={text} />
        </Counted>
      </div>
    )
  })
}

function Chunks({ entries, ...rest }: PartsProps) {
  const { isHidden } = useVeil()
  return (
    <ol className={`plain-list ${css.chunks}`}>
      {entries.map(entry => (
        <li key={entry.n} className={css.chunk}>
          <span className={css.number}>{entry.n}</span>
          {entry.kind === 'chunk' ? (
            <>
              <StepButton of={entry} {...rest} />
              <Counted withdrawnBy={entry.withdrawnBy} className={css.value}>
                <Visible text={chunkText(entry, isHidden)} />
              </Counted>
            </>
          ) : (
            <Note note={entry} {...rest} />
          )}
        </li>
      ))}
    </ol>
  )
}

/** Returns the JSON of a chunk, cut; the shape of the payload if it is hidden. */
function chunkText({ value }: Chunk, isHidden: boolean): string {
  const source = sourceOf(value)
  return cutText(isHidden ? veiledText(source) : source, CHUNK_CHARS, '…')
}

/** A text that is valid or was withdrawn. */
function Counted({
  withdrawnBy,
  className,
  children,
}: {
  withdrawnBy: Rollback | undefined
  className: string | undefined
  children: ReactNode
}) {
  if (!withdrawnBy) return <span className={className}>{children}</span>
  return (
    <del className={className} title={rollbackText(withdrawnBy)}>
      <span className="visually-hidden">Withdrawn: </span>
      {children}
    </del>
  )
}

type StepButtonProps = Omit<PartsProps, 'entries'> & { of: { step: string; attempt: number } }

/** The step of a chunk: pressing it selects the step's bar in the timeline. */
function StepButton({ of: { step, attempt }, hasStep, onStep }: StepButtonProps) {
  const text = attempt === 1 ? shortName(step) : `${shortName(step)} · attempt ${attempt}`
  if (!hasStep(step)) return <span className={css.step}>{text}</span>
  return (
    <button type="button" className={css.step} title="Show the step in the timeline" onClick={() => onStep(step)}>
      {text}
    </button>
  )
}

function Note({ note, hasStep, onStep }: Omit<PartsProps, 'entries'> & { note: Rollback | StreamEnd }) {
  if (note.kind === 'end')
    return (
      <p className={css.note}>
        Ended: {note.status}
        {note.continuedAs !== undefined && ', continued as '}
        {note.continuedAs !== undefined && (
          <Link target={{ to: 'run', params: { id: note.continuedAs }, query: { tab: 'streams' } }}>
            {note.continuedAs}
          </Link>
        )}
      </p>
    )
  return (
    <p className={css.note} data-rollback>
      <StepButton of={note} hasStep={hasStep} onStep={onStep} /> {rollbackText(note)}
    </p>
  )
}

function rollbackText({ attempt, reason, count }: Rollback): string {
  const what = reason === 'failed' ? 'failed' : 'was lost'
  return `Attempt ${attempt} ${what}: ${count} ${count === 1 ? 'chunk' : 'chunks'} withdrawn`
}
