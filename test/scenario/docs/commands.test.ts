// Every command of the project's pages runs in a shell, page by page and unchanged, against an engine and with the ids of its
// runs and webhooks. Data blocks are read.

import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Block, blocksOf, pages } from '../../kit/docs/blocks.ts'
import { Shell } from '../../kit/docs/shell.ts'
import {
  acts,
  flow,
  onCleanup,
  openDestination,
  PlainRunner,
  run,
  scenario,
  tempStoreFile,
  wait,
} from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

/** Pages, and folders of pages, whose commands other tests run: one types them, one replays every operation's example. */
const ELSEWHERE: Record<string, string> = {
  'docs/quickstart.md': 'test/scenario/docs/quickstart.test.ts',
  'docs/http-api/': 'test/scenario/http/openapi.test.ts',
}

/** Languages of blocks that are not run: outputs, diagrams, and excerpts of text. `snippets.test.ts` runs `ts`. */
const SHOWN = ['', 'text', 'mermaid', 'md', 'ts', 'tsx', 'python', 'go', 'ini']

const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW: '127.0.0.1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
})
const api = engine.api.as(SECRET_KEY)

/** The ids that replace the ids of a page. */
async function things(): Promise<Record<string, string>> {
  const order = {
    handler: flow([run('charge-card'), run('poll:2')]),
    registration: { triggers: [{ event: 'order.placed' }] },
  }
  const waits = flow([wait('confirmation', 'user.confirmed')])
  const runner = await new PlainRunner({
    app: 'shop',
    workflows: { 'process-order': order, 'user.signed-up': waits },
  }).listen()
  onCleanup(() => runner.close())
  await runner.register(api)
  const { runId } = await api.send({ name: 'order.placed' })
  await api.succeeded(runId)
  const waiting = (await api.send({ name: 'user.signed-up' })).runId as string
  const webhooks = new Webhooks(api)
  const refusing = await openDestination(acts.status(500))
  const { id } = await webhooks.deliverOne(refusing.url)
  await webhooks.reaches(id, 'exhausted', 2)
  const endpoint = (await api.post('/webhook-endpoints', { url: 'https://x.example', eventKinds: ['run.failed'] })).json
  const receiver = (await api.post('/webhook-receivers', { eventName: 'x' })).json
  const job = (await api.post('/bulk', { action: 'resume', ids: [runId] })).json
  return {
    waiting,
    run_: runId as string,
    dlv_: id,
    whe_: (endpoint as { id: string }).id,
    whr_: (receiver as { id: string }).id,
    blk_: (job as { bulkId: string }).bulkId,
  }
}

const ids = await things()
const store = `sqlite:${tempStoreFile()}`
const shell = await Shell.open({ ENGINE_URL: engine.url, ENGINE_API_KEY: SECRET_KEY, ENGINE_STORE: store })
for (const name of ['order.json', 'corrected.json']) shell.write(name, '{"item": "tea"}')
shell.write('export.json', '{"order": {"item": "tea"}}')
shell.write('stripe.txt', 'a-secret-of-the-provider-0123456789')
shell.write('.env', `PERDURE_SECRET_KEY=${SECRET_KEY}\n`)
shell.write('backups/.keep', '')
await shell.run('mkdir .perdure && perdure keys create --kind read --store sqlite:./.perdure/engine.db')
const keyId = (await shell.run('perdure keys create --kind read --json | jq -r .id')).trim()

/** The commands with the changes that a test needs: addresses, ids, paths that it may not write to, and keys of other engines. */
function prepared({ page, code }: Block): string {
  return code
    .replaceAll(/http:\/\/(127\.0\.0\.1|localhost):4777|\blocalhost:4777/g, engine.url)
    .replaceAll(/\b(run_|dlv_|whe_|whr_|blk_)01K\.\.\./g, (_, kind: string) => ids[kind] as string)
    .replaceAll('RUN_ID/cancel', `${ids.waiting}/cancel`)
    .replaceAll('RUN_ID', ids.run_ as string)
    .replaceAll(/key_01\w+/g, keyId)
    .replaceAll('/mnt/backups/', './backups/')
    .replaceAll('https://engine.example.org ENGINE_API_KEY=...', `${engine.url} ENGINE_API_KEY=${SECRET_KEY}`)
    .replaceAll(/ENGINE_API_KEY=\$\(.*\)$/gm, `ENGINE_API_KEY=${SECRET_KEY}`)
    .replaceAll(/postgres:\/\/\S+\/perdure\b/g, `sqlite:./${page.replace(/\W/g, '-')}.db`)
    .replaceAll('pdk_secret_...', SECRET_KEY)
    .replaceAll('@secret.txt', '@stripe.txt')
}

const commanded = pages().filter(
  page =>
    !Object.keys(ELSEWHERE).some(path => page.startsWith(path)) &&
    blocksOf(page).some(({ language }) => language === 'sh'),
)

test.each(commanded)('the commands of %s run', async page => {
  const blocks = blocksOf(page).filter(({ language }) => language === 'sh')
  await shell.run(blocks.map(prepared).join('\n'))
})

test.each(pages())('the data on %s can be read, and every block says its language', page => {
  for (const { language, code, line } of blocksOf(page)) {
    if (language === 'json') JSON.parse(code)
    else if (language === 'yaml') expect(parseAllDocuments(code).flatMap(({ errors }) => errors)).toEqual([])
    else expect(['sh', ...SHOWN], `line ${line}`).toContain(language)
  }
})
