// Reads the output of `strace -f -y -xx` for an engine: its writes and syncs of files, and the bytes it sent to sockets, in
// order.

/** One system call. `began` and `ended` are lines of the trace: calls of several threads overlap. */
export interface SystemCall {
  name: string
  began: number
  ended: number
  /** The path of the file descriptor in the first argument, if there is one. */
  path: string | undefined
  /** The arguments as text, with the strings still encoded. */
  args: string
  /** Decoded strings among the arguments, in order. */
  strings: readonly Buffer[]
  result: number
  /** The path of the file descriptor that the call returned. */
  returnedPath: string | undefined
}

const CALL = /^(\d+) +(\w+)\((.*)$/
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)$/
const UNFINISHED = ' <unfinished ...>'
const RESULT = / = (-?\d+)(?:<((?:\\x[0-9a-f]{2})*)>)?[^=]*$/
const DESCRIPTOR = /^\d+<((?:\\x[0-9a-f]{2})*)>/
const STRING = /"((?:\\x[0-9a-f]{2})*)"/g

/** Returns the finished calls in the order in which they ended. */
export function readTrace(text: string): SystemCall[] {
  const calls: SystemCall[] = []
  const open = new Map<string, { began: number; args: string }>()
  for (const [line, content] of text.split('\n').entries()) {
    const resumed = RESUMED.exec(content)
    const started = resumed ? undefined : CALL.exec(content)
    if (resumed) {
      const [, thread = '', name = '', rest = ''] = resumed
      const began = open.get(thread)
      open.delete(thread)
      if (began) calls.push(callOf(name, `${began.args}${rest}`, { began: began.began, ended: line }))
    } else if (started) {
      const [, thread = '', name = '', rest = ''] = started
      if (rest.endsWith(UNFINISHED)) open.set(thread, { began: line, args: rest.slice(0, -UNFINISHED.length) })
      else calls.push(callOf(name, rest, { began: line, ended: line }))
    }
  }
  return calls
}

function callOf(name: string, text: string, lines: { began: number; ended: number }): SystemCall {
  const [whole = '', result = '-1', returned] = RESULT.exec(text.slice(-4096)) ?? []
  const args = text.slice(0, text.length - whole.length)
  const path = DESCRIPTOR.exec(args)?.[1]
  return {
    name,
    ...lines,
    path: path === undefined ? undefined : decode(path).toString(),
    args,
    strings: [...args.matchAll(STRING)].map(([, encoded = '']) => decode(encoded)),
    result: Number(result),
    returnedPath: returned === undefined ? undefined : decode(returned).toString(),
  }
}

function decode(encoded: string): Buffer {
  return Buffer.from(encoded.replaceAll('\\x', ''), 'hex')
}
