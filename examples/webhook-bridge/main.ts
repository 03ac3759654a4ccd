// `npm run example -- webhook-bridge`: a signed push leads to a signed message. A forged push and a repeated one have no effect.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { runExample } from '../shared/example.ts'
import { heading, note } from '../shared/show.ts'
import { openSink } from '../shared/sink.ts'
import { postPush } from './github.ts'

const key = (label: string, kind: string) => {
  return { label, kind, namespace: 'default', key: randomBytes(24).toString('hex') }
}
const secretKey = key('the owner', 'secret')
const runnerKey = key('the runner', 'runner')
const sink = await openSink()

const options = {
  runner: new URL('./runner.ts', import.meta.url),
  engineEnv: { ENGINE_API_KEYS: JSON.stringify([secretKey, runnerKey]) },
  runnerEnv: { ENGINE_API_KEY: runnerKey.key },
  apiKey: secretKey.key,
}

const example = runExample(options, async ({ client, engine }) => {
  heading('Both sides of the bridge, created with the client')
  const receiver = await client.createWebhookReceiver({
    body: { name: 'GitHub', eventName: 'github/push', slug: 'github-push', scheme: 'github' },
  })
  const endpoint = await client.createWebhookEndpoint({
    body: { name: 'chat', app: 'bridge', url: sink.url, eventKinds: ['run.succeeded'] },
  })
  // The engine shows each secret only in this response.
  assert.ok(receiver.secret && endpoint.secret)
  const url = `${engine.url}/webhooks/${receiver.slug}`
  note(`GitHub posts to ${url}`)
  note(`the engine posts to ${endpoint.url}`)

  heading('A push')
  const push = {
    ref: 'refs/heads/main',
    repository: { full_name: 'acme/shop' },
    pusher: { name: 'ada' },
    commits: [{ id: '4f2a', message: 'Sell tents\n\nThe large ones, too.' }],
  }
  const posted = await postPush({ url, secret: receiver.secret, id: 'push-1', push })
  note(`${posted.status} ${JSON.stringify(posted.answer)}`)
  assert.equal(posted.status, 202)

  heading('What the other side receives')
  const { headers, body } = await sink.next()
  // Throws if the signature was not made with the secret, or if the timestamp is too old.
  const message = new Webhook(endpoint.secret).verify(body, headers as Record<string, string>) as {
    type: string
    data: { run: { result: unknown } }
  }
  note(`verified ${message.type} ${JSON.stringify(message.data.run.result)}`)
  assert.deepEqual(message.data.run.result, { repository: 'acme/shop', by: 'ada', changes: ['Sell tents'] })

  heading('A forged push, and the same push again')
  const forged = await postPush({ url, secret: 'a guess', id: 'push-2', push })
  note(`forged: ${forged.status} ${JSON.stringify(forged.answer.error)}`)
  assert.equal(forged.status, 401)
  const repeated = await postPush({ url, secret: receiver.secret, id: 'push-1', push })
  note(`repeated: ${repeated.status} ${JSON.stringify(repeated.answer)}`)
  assert.equal(repeated.answer.deduped, true)
  assert.equal((await client.listRuns()).items.length, 1)
})
await example.finally(() => sink.close())
