// A whole runner in plain JavaScript: no SDK, no TypeScript, nothing but node:http and ws. It follows
// docs/wire-protocol.md, over HTTP or over Connect:
//
//   node runner.mjs http    http://127.0.0.1:4777
//   node runner.mjs connect http://127.0.0.1:4777
//
// A workflow is a generator: it yields steps (a list of them is parallel) and gets their results back.

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { WebSocket } from 'ws'

const [transport, engine] = process.argv.slice(2)
const APP = 'plain-js'
const REGISTER_EVERY_MS = 30_000
const RECONNECT_MS = 500

const run = (name, work) => ({ op: 'StepRun', name, work })
const sleep = (name, sleepMs) => ({ op: 'Sleep', name, sleepMs })
const wait = (name, eventName, timeoutMs) => ({ op: 'WaitForEvent', name, eventName, timeoutMs })
const child = (name, childName, childData) => ({ op: 'RunWorkflow', name, childName, childData })
const emit = (name, eventName, data) => ({ op: 'Emit', name, eventName, data })
const webhook = (name, webhookUrl, data) => ({ op: 'Webhook', name, webhookUrl, data })

/** Runs whose card was declined once. */
const declined = new Set()

function charge(runId, amount) {
  if (declined.has(runId)) return { charged: amount }
  declined.add(runId)
  throw new Error('card declined')
}

const workflows = {
  order: {
    registration: { triggers: [{ event: 'order.placed' }], retry: { maxAttempts: 3, initialMs: 10 } },
    *handler({ event, ctx }) {
      const { item, amount, callback } = event.data
      const [reserved, paid] = yield [
        run('reserve', () => ({ reserved: item })),
        run('charge', () => charge(ctx.runId, amount)),
      ]
      yield sleep('cool down', 20)
      const approval = yield wait('approval', 'order.approved', 60_000)
      const box = yield child('pack', 'pack', { item })
      yield [emit('tell', 'order.packed', box), webhook('call back', callback, { item, box })]
      return { ...reserved, ...paid, approvedBy: approval.data.by, ...box }
    },
  },
  pack: {
    registration: {},
    *handler({ event }) {
      return { box: yield run('fold', () => `a box for ${event.data.item}`) }
    },
  },
}

/** One pass: from the top to the first steps that the memo has no result for. */
async function pass(request) {
  const workflow = workflows[request.ctx.workflow]
  if (!workflow) return { status: 404, body: { error: { message: 'no such workflow' }, logs: [] } }
  const handler = workflow.handler(request)
  const uses = new Map()
  try {
    let yielded = handler.next()
    while (!yielded.done) {
      const isList = Array.isArray(yielded.value)
      const found = isList ? yielded.value : [yielded.value]
      const steps = found.map(step => ({ ...step, id: stepId(uses, step.name) }))
      const entries = steps.map(({ id }) => request.steps[id])
      const failed = entries.find(entry => entry?.error)
      if (failed) yielded = handler.throw(Object.assign(new Error(failed.error.message), { isStep: true }))
      else if (entries.every(entry => entry && !entry.pending)) {
        const results = entries.map(({ data }) => data)
        yielded = handler.next(isList ? results : results[0])
      } else {
        const opcodes = await Promise.all(steps.filter((_, i) => !entries[i]).map(opcodeOf))
        return { status: 206, body: { opcodes, logs: [] } }
      }
    }
    return { status: 200, body: { data: yielded.value, logs: [] } }
  } catch (error) {
    // A step that failed for good fails the run; anything else is a fault of this pass, which is repeated.
    return { status: error.isStep ? 400 : 500, body: { error: { message: error.message }, logs: [] } }
  }
}

/** SHA-256 of the name; the second use of a name hashes `name:1`, the third `name:2`. */
function stepId(uses, name) {
  const use = uses.get(name) ?? 0
  uses.set(name, use + 1)
  return createHash('sha256')
    .update(use === 0 ? name : `${name}:${use}`)
    .digest('hex')
}

/** A code step is carried out now; the others are for the engine. */
async function opcodeOf({ work, ...opcode }) {
  if (!work) return opcode
  try {
    return { ...opcode, data: await work() }
  } catch (error) {
    return { ...opcode, error: { message: error.message, name: error.name } }
  }
}

const registration = {
  app: APP,
  runner: `${APP}-${transport}`,
  protocolVersion: 1,
  workflows: Object.entries(workflows).map(([name, { registration }]) => ({ name, ...registration })),
}

/** The engine calls us. */
function serveHttp() {
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { status, body } = await pass(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1', () => {
    const url = `http://127.0.0.1:${server.address().port}/`
    const register = async () => {
      const answer = await fetch(`${engine}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...registration, url }),
      })
      if (!answer.ok) throw new Error(`registration refused: ${await answer.text()}`)
      setTimeout(register, REGISTER_EVERY_MS)
      console.log('registered')
    }
    register()
  })
}

/** We call the engine. Pings are answered by ws; frames of types we do not know are ignored. */
function dial() {
  const socket = new WebSocket(`${engine.replace('http', 'ws')}/connect`, 'engine.connect.v0')
  const send = (type, id, payload) => socket.send(JSON.stringify({ type, id, payload }))
  socket.on('open', () => {
    send('hello', '1', { protocolVersion: 1 })
    send('runner.register', '2', registration)
  })
  socket.on('message', async text => {
    const { type, id, payload } = JSON.parse(text)
    if (type === 'invoke') send('invoke.result', id, await pass(payload))
    else if (type === 'runner.registered') console.log('registered')
    else if (type === 'error') console.error(payload.message)
  })
  socket.on('error', error => console.error(error.message))
  socket.on('close', () => setTimeout(dial, RECONNECT_MS))
}

if (transport === 'connect') dial()
else serveHttp()
