// Parses server-sent events from the body of a response. It supports the part of the format that the engine writes.

/** Longer than any message: payloads, and the runner answers that contain log lines, are at most 1 MiB. */
const MESSAGE_CHARS_MAX = 16 * 1024 * 1024

/** Yields the `data` of each message until the server ends the stream. Skips comments and other fields. */
export async function* readMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let buffer = ''
  let data: string | undefined
  for await (const chunk of chunks) {
    buffer += decoder.decode(chunk, { stream: true })
    const lines = buffer.split('\n')
    buffer = lines.pop() as string
    if (buffer.length + (data?.length ?? 0) > MESSAGE_CHARS_MAX) throw new Error('a message of the stream is too long')
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
