import { openSqliteStore, VirtualClock } from '@perdure/engine'
import { expect, onTestFinished, test } from 'vitest'
import { Life, mortalClock, mortalStore } from './life.ts'
import { nextTurn } from './real-time.ts'

async function open() {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const life = new Life()
  return { store, life, own: mortalStore(store, life) }
}

test('a living engine has the whole store, reads of a namespace and administration included', async () => {
  const { own } = await open()
  await own.ping()
  await own.admin.addNamespaces(['default'], 1)
  expect(await own.admin.namespaces()).toMatchObject([{ name: 'default' }])
  expect(await own.in('default').runs({ limit: 1 })).toEqual([])
  await expect(own.in('default').runs({ limit: 1, after: {} as never })).rejects.toThrow()
})

test('a dead engine changes nothing, hears nothing, and does not close the store', async () => {
  const { store, life, own } = await open()
  const heard: string[] = []
  void own.ping().then(() => heard.push('asked before'))
  life.end(new Error('dead'))
  void own.admin.addNamespaces(['ghost'], 1).then(() => heard.push('asked after'))
  await own.close()
  for (let i = 0; i < 5; i++) await nextTurn()
  expect(heard).toEqual([])
  expect(await store.admin.namespaces()).toEqual([])
  await expect(life.over).rejects.toThrow('dead')
})

test('no timer of a dead engine fires', () => {
  const clock = new VirtualClock()
  const [living, dying] = [new Life(), new Life()]
  const fired: string[] = []
  mortalClock(clock, living).at(clock.now() + 1, () => fired.push('living'))
  mortalClock(clock, dying).at(clock.now() + 1, () => fired.push('dead'))
  dying.end(new Error('dead'))
  clock.leapTo(clock.now() + 1)
  expect(fired).toEqual(['living'])
})
