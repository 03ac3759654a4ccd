// `npm run example -- chat`: asks questions like the page, and checks the answers against the results of the runs. With `--open`
// the page stays open for a browser.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { getToolName, isToolUIPart, type UIMessage } from 'ai'
import { runExample } from '../shared/example.ts'
import { heading, note } from '../shared/show.ts'
import { linkOf, openChat, readAnswer, textOf } from './reader.ts'
import { openChatServer } from './server.ts'

const runner = new URL('./runner.ts', import.meta.url)
const isOpen = process.argv.includes('--open')
const apiKey = 'secret-key-of-the-example-0123456789'
const keys = [{ label: 'example', namespace: 'default', kind: 'secret', key: apiKey }]
const port = await freePort()
// The engine answers pages of this origin.
const engineEnv = { ENGINE_API_KEYS: JSON.stringify(keys), ENGINE_CORS_ORIGINS: `http://127.0.0.1:${port}` }

await runExample(
  { runner, engineEnv, runnerEnv: { ENGINE_API_KEY: apiKey }, apiKey, isOpen },
  async ({ engine, client }) => {
    const server = await openChatServer({ engineUrl: engine.url, apiKey, port })
    const urls = { pageUrl: server.url, engineUrl: engine.url }
    if (isOpen) {
      heading(`Open ${server.url} in a browser. Ctrl-C stops it.`)
      await new Promise(() => {})
    }
    const resultOf = async ({ id }: UIMessage) =>
      ((await client.getRun({ id })).result as { answer: string } | undefined)?.answer ?? ''

    /** Asks in a new chat, decides when a tool asks a person, and returns the text of the whole answer. */
    async function ask(text: string, decision?: { approved: boolean }): Promise<string> {
      let decided: Promise<Response> | undefined
      const message = await readAnswer(await openChat(urls, text).send(), message => {
        const link = linkOf(message)
        if (link !== undefined) decided ??= decide(link, decision)
        return false
      })
      await decided
      for (const part of message.parts.filter(isToolUIPart)) note(`${getToolName(part)}: ${part.state}`)
      note(textOf(message))
      assert.equal(textOf(message), await resultOf(message))
      return textOf(message)
    }

    heading('A question')
    assert.match(await ask('Where is my order 17?'), /^I look up order 17\.\n\nHere it is: Order 17/)

    heading('Money back, allowed')
    const allowed = await ask('I want my money back for order 18.', { approved: true })
    assert.match(allowed, /The money for order 18 is on its way\.$/)

    heading('Money back, refused')
    const refused = await ask('I want my money back for order 19.', { approved: false })
    assert.match(refused, /I have not given any money back for order 19\.$/)

    heading('A page that is reloaded in the middle of a story')
    const chat = openChat(urls, 'Tell me a story of 40 words.')
    const half = await readAnswer(await chat.send(), message => textOf(message).split(' ').length > 15)
    note(`before: ${textOf(half)}`)
    const whole = await readAnswer(await chat.reload())
    note(`after:  ${textOf(whole)}`)
    assert.equal(textOf(whole), await resultOf(whole))

    heading('A model that loops')
    await assert.rejects(ask('What is the meaning of 42?'), error => {
      note(String(error))
      return /budget/.test(String(error))
    })
    server.close()
  },
)

function decide(link: string, decision: object | undefined): Promise<Response> {
  const body = JSON.stringify(decision)
  note(`curl '${link.slice(0, 50)}…' -H 'content-type: application/json' -d '${body}'`)
  return fetch(link, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
