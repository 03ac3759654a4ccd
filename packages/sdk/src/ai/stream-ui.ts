// Streams the answer of a model of the AI SDK: writes it to an output stream in the form that the AI SDK's user interface reads.
// Called in the callbacks of steps.

import type { UIMessageChunk } from 'ai'
import type { OutputStream } from '../run/output-stream.ts'

/** The result of `streamText`, or a stream that `toUIMessageStream` or `createUIMessageStream` has made. */
export type UISource =
  | ReadableStream<UIMessageChunk>
  // biome-ignore lint/suspicious/noExplicitAny: results of every set of tools
  | { readonly stream: ReadableStream<any> }

/** They begin and end a message or one of its steps. A step of the run stands for each step of the message. */
const BOUNDARIES: ReadonlySet<string> = new Set(['start', 'start-step', 'finish-step', 'finish'])

/**
 * Writes the answer of a model to an output stream, as one step of a message of the user interface, and resolves with its text.
 * The message ends with this step, unless the model calls tools that other steps execute. Rejects with the model's error, so that
 * the step is retried: readers then drop the chunks of the failed attempt.
 */
export async function streamUI(out: OutputStream, result: UISource): Promise<string> {
  let failure: unknown
  const chunks = 'getReader' in result ? result : await chunksOf(result, error => (failure = error))
  let text = ''
  let finish: Extract<UIMessageChunk, { type: 'finish' }> | undefined
  const content = chunks.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        if (chunk.type === 'error') throw failure ?? new Error(chunk.errorText)
        if (chunk.type === 'abort')
          throw new Error(`The call of the model was aborted: ${chunk.reason ?? 'no reason given'}`)
        if (chunk.type === 'finish') finish = chunk
        if (chunk.type === 'text-delta') text += chunk.delta
        if (!BOUNDARIES.has(chunk.type)) controller.enqueue(chunk)
      },
    }),
  )
  await out.write({ type: 'start-step' })
  await out.pipe(content)
  await out.write({ type: 'finish-step' })
  if (finish && finish.finishReason !== 'tool-calls') await out.write(finish)
  return text
}

/** The user sees the text of an error; the step gets the error itself. */
async function chunksOf(
  { stream }: Exclude<UISource, ReadableStream>,
  onError: (error: unknown) => void,
): Promise<ReadableStream<UIMessageChunk>> {
  const { toUIMessageStream } = await import('ai')
  return toUIMessageStream({
    stream,
    onError(error) {
      onError(error)
      return error instanceof Error ? error.message : String(error)
    },
    redactToolErrors: false,
  })
}
