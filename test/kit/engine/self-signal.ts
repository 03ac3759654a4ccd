// Lets a process signal itself at a moment that no other process could hit reliably.

/** Moments in the life of a process. Each is the first call of a method; these are the object and the method. */
export const AT = {
  print: "process.stdout, 'write'",
  listen: "Server.prototype, 'listen'",
} as const

/** The environment of a Node process that sends itself SIGTERM right before that call. */
export function signalsItself(moment: (typeof AT)[keyof typeof AT]): { NODE_OPTIONS: string } {
  const code = `import { Server } from 'node:net'
    import { isMainThread } from 'node:worker_threads'
    function before(object, name) {
      const original = object[name]
      object[name] = function (...args) {
        object[name] = original
        process.kill(process.pid, 'SIGTERM')
        return original.apply(this, args)
      }
    }
    if (isMainThread) before(${moment})`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
}
