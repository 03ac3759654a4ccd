// The page of the chat: `useChat` of the AI SDK over the output streams of runs. The server bundles it.

import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { PerdureChatTransport } from 'perdure/ai'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { MessageView } from './message.tsx'
import { call, explain, isReadError } from './server-calls.ts'

const IDEAS = ['Where is my order 17?', 'I want my money back for order 18.', 'Tell me a story of 80 words.']
/** The page counts as scrolled to its end when less than this is below the window. */
const NEAR_PX = 300
const engineUrl = document.querySelector<HTMLMetaElement>('meta[name=engine]')?.content ?? ''

/** The id of the chat is in the address, so that a reload and a second tab show the same chat. */
function chatIdOfPage(): string {
  const address = new URL(location.href)
  const known = address.searchParams.get('chat')
  if (known) return known
  const chatId = crypto.randomUUID()
  address.searchParams.set('chat', chatId)
  history.replaceState(null, '', address)
  return chatId
}

function Chat({ chatId, saved }: { chatId: string; saved: UIMessage[] }) {
  const [isLive, setLive] = useState(true)
  const path = `/api/chats/${chatId}`
  const tabs = useMemo(() => new BroadcastChannel(path), [path])
  const transport = useMemo(
    () =>
      new PerdureChatTransport({
        url: engineUrl,
        async send({ messages }) {
          const run = await call('POST', path, { messages })
          tabs.postMessage('asked')
          return run
        },
        reconnect: () => call('GET', `${path}/answer`),
        onLive: setLive,
      }),
    [path, tabs],
  )
  const { messages, setMessages, sendMessage, resumeStream, clearError, status, error } = useChat({
    id: chatId,
    messages: saved,
    transport,
    resume: true,
  })
  // Another tab has asked a question: show it, then the answer as it arrives.
  useEffect(() => {
    tabs.onmessage = async () => {
      setMessages(await call('GET', path))
      await resumeStream()
    }
  }, [tabs, path, setMessages, resumeStream])

  const isBusy = status === 'submitted' || status === 'streaming'
  const bottom = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: The page follows the answer, unless the reader has scrolled up.
  useEffect(() => {
    const { scrollHeight, scrollTop, clientHeight } = document.documentElement
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) bottom.current?.scrollIntoView({ block: 'end' })
  }, [messages, status])
  const reconnect = () => {
    clearError()
    resumeStream()
  }
  return (
    <>
      <header>
        <h1>Chat</h1>
        <a href="/">New chat</a>
      </header>
      <main data-status={status}>
        {messages.length === 0 && <Ideas onChoose={text => sendMessage({ text })} />}
        <div role="log" aria-label="Messages">
          <ol>
            {messages.map(message => (
              <MessageView key={message.id} message={message} isGrowing={isBusy && message === messages.at(-1)} />
            ))}
          </ol>
        </div>
        {isBusy && !isLive && <p className="note">The connection is lost. The page reconnects by itself.</p>}
        {error && (
          <div className="error" role="alert">
            <p>{explain(error)}</p>
            {isReadError(error) && (
              <button type="button" onClick={reconnect}>
                Read the answer again
              </button>
            )}
          </div>
        )}
        <div className="end" ref={bottom} />
      </main>
      <Composer isBusy={isBusy} onAsk={text => sendMessage({ text })} onStop={() => call('POST', `${path}/stop`)} />
    </>
  )
}

function Ideas({ onChoose }: { onChoose(text: string): void }) {
  return (
    <section className="ideas">
      <p>An agent answers. Reload the page, stop its process, or stop the engine: the answer continues.</p>
      {IDEAS.map(text => (
        <button type="button" key={text} onClick={() => onChoose(text)}>
          {text}
        </button>
      ))}
    </section>
  )
}

function Composer({ isBusy, onAsk, onStop }: { isBusy: boolean; onAsk(text: string): void; onStop(): void }) {
  const [text, setText] = useState('')
  const ask = (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || text.trim() === '') return
    onAsk(text)
    setText('')
  }
  return (
    <form aria-label="Ask" onSubmit={ask}>
      <input
        aria-label="Your question"
        placeholder="Ask something"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit">Ask</button>
      )}
    </form>
  )
}

const chatId = chatIdOfPage()
const saved = await call('GET', `/api/chats/${chatId}`)
createRoot(document.querySelector('#root') as Element).render(<Chat chatId={chatId} saved={saved} />)
