// Runs command lines of `perdure` one after the other in one process, so that tests need not start a process for each.
// Every command line has its own environment, output and exit code. `CommandHost` starts it.

import { main } from '../../../packages/cli/dist/bundle/main.js'

let last = Promise.resolve()
process.on('message', ({ id, args, env }) => {
  last = last.then(() => run(id, args, env))
})
process.on('disconnect', () => process.exit())

async function run(id, args, env) {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  const said = { stdout: '', stderr: '' }
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
  for (const stream of ['stdout', 'stderr']) {
    process[stream].write = (chunk, encoding, done) => {
      said[stream] += chunk
      const written = typeof encoding === 'function' ? encoding : done
      written?.()
      return true
    }
  }
  const code = await main(args).finally(() => {
    for (const stream of ['stdout', 'stderr']) process[stream].write = writes[stream]
    // A command line adds its own, which end with its process.
    process.removeAllListeners('SIGINT')
    process.stdout.removeAllListeners('error')
  })
  process.send({ id, exit: { code, signal: null, ...said } })
}
