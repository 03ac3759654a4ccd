// A chat without a page: asks through the server, and reads the answers through the same transport. Used by main.ts.

import { isToolUIPart, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { PerdureChatTransport } from 'perdure/ai'

type Answer = ReadableStream<UIMessageChunk>

interface ChatReader {
  /** Sends the question, and returns the answer as it arrives. */
  send(): Promise<Answer>
  /** Returns the same answer again from its beginning, as after a reload of the page. */
  reload(): Promise<Answer>
}

/** A new chat that begins with this question. */
export function openChat({ pageUrl, engineUrl }: { pageUrl: string; engineUrl: string }, text: string): ChatReader {
  const chatId = crypto.randomUUID()
  const path = `${pageUrl}/api/chats/${chatId}`
  const messages: UIMessage[] = [{ id: 'question', role: 'user', parts: [{ type: 'text', text }] }]
  const read = async (url: string, body?: object) => {
    const response = await fetch(url, body && { method: 'POST', body: JSON.stringify(body) })
    return (await response.json()) as { runId: string; token: string }
  }
  const transport = new PerdureChatTransport({
    url: engineUrl,
    send: () => read(path, { messages }),
    reconnect: () => read(`${path}/answer`),
  })
  const asked = { trigger: 'submit-message' as const, chatId, messageId: undefined, messages, abortSignal: undefined }
  return {
    send: () => transport.sendMessages(asked),
    reload: async () => (await transport.reconnectToStream({ chatId })) as Answer,
  }
}

/** Reads an answer to its end, or until `isEnough`. */
export async function readAnswer(
  stream: Answer,
  isEnough: (message: UIMessage) => boolean = () => false,
): Promise<UIMessage> {
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    last = structuredClone(message)
    if (isEnough(last)) break
  }
  return last as UIMessage
}

/** Returns the texts of a message, as the page shows them. */
export const textOf = ({ parts }: UIMessage): string =>
  parts.flatMap(part => (part.type === 'text' ? part.text : [])).join('\n\n')

/** Returns the link of the tool that waits for a person. */
export function linkOf({ parts }: UIMessage): string | undefined {
  const asking = parts.filter(isToolUIPart).find(({ state }) => state === 'approval-requested')
  return ((asking?.approval?.descriptor ?? {}) as { url?: string }).url
}
