// A fake language model with tool calls. It reads the conversation, costs tokens, and always says the same.

export interface Message {
  role: 'user' | 'assistant' | 'tool'
  text: string
}

export interface ToolCall {
  tool: string
  input: string
}

export interface Reply {
  text: string
  calls: ToolCall[]
  tokens: number
}

/** Answers a conversation, by a text or by calls of tools. */
export async function model(messages: readonly Message[], signal: AbortSignal): Promise<Reply> {
  signal.throwIfAborted()
  const question = messages[0]?.text ?? ''
  const latest = messages.at(-1)?.text ?? ''
  const order = /\d+/.exec(question)?.[0] ?? '0'
  const tokens = 500 + messages.length * 100
  const call = (tool: string, input: string) => ({ text: `I call ${tool}.`, calls: [{ tool, input }], tokens })

  // This question sends the model round in circles.
  if (question.includes('meaning')) return call('find-order', order)
  if (messages.length === 1) return call('find-order', order)
  if (latest.startsWith('Order') && question.includes('money back')) return call('refund', order)
  return { text: `Here is what I know: ${latest}`, calls: [], tokens }
}
