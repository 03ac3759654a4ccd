// A simulated model: it reads the conversation and always chooses in the same way. Replace it with a call to an API. To show a
// retry, the first call fails because the model is overloaded.

import { RetryAfterError } from 'perdure'

export interface Message {
  role: 'user' | 'assistant' | 'tool'
  content: string
}

export type Reply = { kind: 'answer'; content: string } | { kind: 'tool'; tool: string; input: string }

let calls = 0

export async function callModel(messages: Message[], _signal: AbortSignal): Promise<Reply> {
  calls++
  if (calls === 1) throw new RetryAfterError('The model is overloaded', '100ms')
  const question = messages[0]?.content ?? ''
  const latest = messages.at(-1)?.content ?? ''
  const order = /\d+/.exec(question)?.[0] ?? '0'
  // This question makes the model call tools endlessly, which shows that the loop needs a limit.
  if (question.includes('meaning')) return { kind: 'tool', tool: 'ponder', input: latest.slice(0, 20) }
  if (messages.length === 1) return { kind: 'tool', tool: 'find-order', input: order }
  if (latest.startsWith('Order') && question.includes('back'))
    return { kind: 'tool', tool: 'refund-order', input: order }
  if (latest.startsWith('Refunded')) return { kind: 'answer', content: `Your money for order ${order} is on its way.` }
  if (latest.startsWith('A person')) return { kind: 'answer', content: `We cannot refund order ${order}.` }
  return { kind: 'answer', content: `Here is what we know. ${latest}` }
}
