// A simulated language model behind the interface of the AI SDK: `streamText` calls it like any other. It reads the conversation,
// always decides in the same way, and writes its answer word by word. Replace it with a provider's model.

import { setTimeout as pause } from 'node:timers/promises'
import type { LanguageModel } from 'ai'
import { story } from './story.ts'

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>
type Call = Parameters<Model['doStream']>[0]
type Part = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

const WORD_MS = Number(process.env.MODEL_WORD_MS ?? 40)
/** Another number produces other stories, just as a real model gives different answers to the same question. */
const SEED = Number(process.env.MODEL_SEED ?? 1)
const STORY_WORDS_MAX = 1_000
const HELP = 'I can look up an order, give money back, and tell a story of 80 words. What may it be?'

/** A piece of text to say, or a tool to call. */
type Piece = { say: string } | { call: string; input: object }

/** Decides what comes next. `outputs` are the tool outputs in this conversation so far. */
function decide(question: string, outputs: readonly string[]): Piece[] {
  const latest = outputs.at(-1)
  const number = Number(/\d+/.exec(question)?.[0] ?? 17)
  if (question.includes('story')) return [{ say: story(Math.min(number, STORY_WORDS_MAX), SEED) }]
  // This question makes the model call a tool endlessly, which shows that the loop needs a budget.
  if (question.includes('meaning')) return [{ call: 'ponder', input: { thought: `Thought ${outputs.length + 1}` } }]
  if (!question.includes('order')) return [{ say: HELP }]
  const order = { order: number }
  if (latest === undefined) return [{ say: `I look up order ${number}.` }, { call: 'find-order', input: order }]
  if (latest.includes('refused')) return [{ say: `I have not given any money back for order ${number}.` }]
  if (latest.includes('refunded')) return [{ say: `The money for order ${number} is on its way.` }]
  if (question.includes('back')) return [{ call: 'refund-order', input: order }]
  return [{ say: `Here it is: ${latest}` }]
}

/** Returns the newest question, and the answers of the tools since then. */
function read({ prompt }: Call): { question: string; outputs: string[] } {
  const asked = prompt.findLastIndex(({ role }) => role === 'user')
  const { content = [] } = prompt[asked] ?? {}
  const texts = Array.isArray(content) ? content.map(part => (part.type === 'text' ? part.text : '')) : [content]
  const outputs = prompt.slice(asked).flatMap(({ role, content }) => {
    if (role !== 'tool') return []
    return content.map(part => (part.type === 'tool-result' ? JSON.stringify(part.output) : ''))
  })
  return { question: texts.join(' ').toLowerCase(), outputs: outputs.map(textOf) }
}

/** Returns the text of a tool's output, which is `{ type, value }`. */
const textOf = (output: string) => String((JSON.parse(output) as { value: unknown }).value)

async function* speak(call: Call): AsyncGenerator<Part> {
  const { question, outputs } = read(call)
  const pieces = decide(question, outputs)
  yield { type: 'stream-start', warnings: [] }
  for (const [index, piece] of pieces.entries()) {
    if ('call' in piece) {
      const toolCallId = `${piece.call}-${outputs.length + 1}`
      yield { type: 'tool-call', toolCallId, toolName: piece.call, input: JSON.stringify(piece.input) }
      continue
    }
    const id = String(index)
    yield { type: 'text-start', id }
    for (const word of piece.say.match(/\S+\s*/g) ?? []) {
      await pause(WORD_MS, undefined, call.abortSignal && { signal: call.abortSignal })
      yield { type: 'text-delta', id, delta: word }
    }
    yield { type: 'text-end', id }
  }
  const isCalling = pieces.some(piece => 'call' in piece)
  const finishReason = { unified: isCalling ? ('tool-calls' as const) : ('stop' as const), raw: undefined }
  yield { type: 'finish', finishReason, usage: usageOf(call, pieces) }
}

/** Counts four characters as about one token. */
function usageOf({ prompt }: Call, pieces: readonly Piece[]) {
  const [read, said] = [prompt, pieces].map(value => Math.ceil(JSON.stringify(value).length / 4)) as [number, number]
  return {
    inputTokens: { total: read, noCache: read, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: said, text: said, reasoning: undefined },
  }
}

export const model: Model = {
  specificationVersion: 'v4',
  provider: 'example',
  modelId: 'storyteller',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('This model only streams.')),
  doStream: async call => ({ stream: ReadableStream.from(speak(call)) }),
}
