// Sorts the frames of a stack: frames of the user's own code first, frames of libraries and of Node.js after them.

const FRAMES_MAX = 200
const LIBRARY = /node_modules|node:|\/packages\/sdk\/|<anonymous>\)?$|\(native\)/

/** Returns the frames of an error's stack, without the lines that repeat its message: none if it has nothing else. */
export function orderedStack(error: { message: string; name?: string | undefined; stack: string }): {
  own: string[]
  others: string[]
} {
  const { message, name, stack } = error
  const frames = stack
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.startsWith('at '))
    .slice(0, FRAMES_MAX)
  const own = frames.filter(frame => !LIBRARY.test(frame))
  if (frames.length === 0) {
    if ([message, `${name}: ${message}`].includes(stack.trim())) return { own: [], others: [] }
    // The stack of a language without such frames is shown as it is.
    return { own: stack.split('\n').slice(0, FRAMES_MAX), others: [] }
  }
  return own.length === 0 ? { own: frames, others: [] } : { own, others: frames.filter(frame => LIBRARY.test(frame)) }
}
