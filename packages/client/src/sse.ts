// Reads server-sent events from the body of a response, as much of the format as the engine writes.

/** Longer than any frame: payloads are bounded at 1 MiB, log lines ride in an answer of at most that. */
const MESSAGE_CHARS_MAX = 16 * 1024 * 1024

/** The `data` of each message, until the server ends the stream. Comments and other fields are passed over. */
export async function* readMessages(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let buffer = ''
  let data: string | undefined
  for await (const chunk of chunks) {
    buffer += decoder.decode(chunk, { stream: true })
    const lines = buffer.split('\n')
    buffer = lines.pop() as string
    if (buffer.length + (data?.length ?? 0) > MESSAGE_CHARS_MAX)
      throw new Error('a frame of the stream is too long')
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line
      if (text.startsWith('data:')) {
        const value = text.slice(5).replace(/^ /, '')
        data = data === undefined ? value : `${data}\n${value}`
      } else if (text === '' && data !== undefined) {
        yield data
        data = undefined
      }
    }
  }
}
