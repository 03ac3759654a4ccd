// One message of the chat: its texts, its tools, and the question whether a tool may run. Used by page.tsx.

import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart, type UIMessage } from 'ai'
import { useState } from 'react'

type ToolPart = ToolUIPart | DynamicToolUIPart

const STATES: Readonly<Record<ToolPart['state'], string>> = {
  'input-streaming': 'is prepared',
  'input-available': 'runs',
  'approval-requested': 'waits for you',
  'approval-responded': 'continues',
  'output-available': 'is done',
  'output-denied': 'was refused',
  'output-error': 'has failed',
}

const isOver = ({ state }: ToolPart) => state.startsWith('output-')

/** A message. `isGrowing`: more text may follow. */
export function MessageView({ message, isGrowing }: { message: UIMessage; isGrowing: boolean }) {
  return (
    <li className={message.role} aria-busy={isGrowing}>
      {message.parts.map((part, index) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no ids, and only the last ones change
        if (part.type === 'text') return <p key={index}>{part.text}</p>
        return isToolUIPart(part) ? <ToolView key={part.toolCallId} part={part} isGrowing={isGrowing} /> : null
      })}
      {isGrowing && message.role === 'assistant' && <span className="pulse" />}
    </li>
  )
}

function ToolView({ part, isGrowing }: { part: ToolPart; isGrowing: boolean }) {
  const { url } = (part.approval?.descriptor ?? {}) as { url?: string }
  return (
    <section className="tool" data-state={part.state}>
      <h2>
        <code>{getToolName(part)}</code> {isGrowing || isOver(part) ? STATES[part.state] : 'did not run'}
      </h2>
      <p>{JSON.stringify(part.input)}</p>
      {part.state === 'output-available' && <p>{String(part.output)}</p>}
      {isGrowing && part.state === 'approval-requested' && url !== undefined && <Decision url={url} />}
    </section>
  )
}

/** Posts the decision to the link of the callback. The run continues, and adds to the message. */
function Decision({ url }: { url: string }) {
  const [state, setState] = useState<'open' | 'sent' | 'gone'>('open')
  const decide = async (approved: boolean) => {
    setState('sent')
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ approved }) }).catch(() => null)
    // 409: somebody has already decided, and the message will say so soon. Without an answer the question stays.
    if (answer === null) setState('open')
    else if (!answer.ok && answer.status !== 409) setState('gone')
  }
  if (state === 'gone') return <p>This question is over.</p>
  return (
    <div className="decision">
      <button type="button" disabled={state === 'sent'} onClick={() => decide(true)}>
        Allow
      </button>
      <button type="button" disabled={state === 'sent'} onClick={() => decide(false)}>
        Refuse
      </button>
    </div>
  )
}
