// The trees of runs and events (docs/http-api/runs.md#get-runsidtree).

import type { Tree } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { child, emit, flow, returned, run, StepFailure, scenario, step, unique, until, wait } from '../../kit/index.ts'

const { api, engine } = await scenario()

async function tree(path: string): Promise<Tree> {
  const { status, json } = await api.get(path)
  expect(status).toBe(200)
  return json as Tree
}

/** The nodes as `depth via step what`. */
const shape = ({ nodes }: Tree) =>
  nodes.map(({ depth, via, stepName, name, workflow }) =>
    [depth, via, stepName, name ?? workflow].filter(part => part !== undefined).join(' '),
  )

test('event, runs, children, emitted events, forks: each node with its parent', async () => {
  const [order, ship, told, mail] = ['order', 'ship', 'told', 'mail'].map(unique) as [string, string, string, string]
  await engine.runner({
    workflows: {
      [order]: flow([run('pay'), child('ship it', ship), emit('tell', told)]),
      [ship]: flow([run('pack')]),
      [mail]: { handler: () => returned(), registration: { triggers: [{ event: told }] } },
    },
  })
  const { runId, eventId } = await api.send({ name: order })
  await api.succeeded(runId)
  const fork = (await api.post(`/runs/${runId}/replay`)).json as { id: string }
  await api.succeeded(fork.id)
  const full = await until(async () => {
    const found = await tree(`/events/${eventId}/tree`)
    return found.nodes.length === 9 && found
  })
  expect(full.truncated).toBe(false)
  expect(shape(full).sort()).toEqual(
    [
      `0 root ${order}`,
      `1 trigger ${order}`,
      `2 child ship it ${ship}`,
      `2 fork ${order}`,
      `2 emit tell ${told}`,
      `3 child ship it ${ship}`,
      `3 emit tell ${told}`,
      `3 trigger ${mail}`,
      `4 trigger ${mail}`,
    ].sort(),
  )
  const depths = new Map(full.nodes.map(({ id, depth }) => [id, depth]))
  for (const { parentId, depth } of full.nodes.slice(1)) expect(depths.get(parentId as string)).toBe(depth - 1)
  // The tree of the run is this part of the event's tree.
  const below = await tree(`/runs/${runId}/tree`)
  expect(below.nodes[0]).toMatchObject({ type: 'run', id: runId, depth: 0, via: 'root', status: 'succeeded' })
  expect(below.nodes).toHaveLength(8)
})

test('runs that steps started, with their keys; not those that a step got by its key', async () => {
  const [starter, started] = [unique('starter'), unique('started')]
  const start = (name: string) => step('StartRun', name, { workflow: started, key: 'a' })
  await engine.runner({
    workflows: { [starter]: flow([start('go'), start('again')]), [started]: flow([wait('hold', 'nothing')]) },
  })
  const { runId } = await api.send({ name: starter })
  await api.succeeded(runId)
  const [first] = (await tree(`/runs/${runId}/tree`)).nodes.slice(1)
  expect(first).toMatchObject({ parentId: runId, via: 'started', stepName: 'go', key: 'a', workflow: started })
  const other = await api.send({ name: starter })
  await api.succeeded(other.runId)
  expect(shape(await tree(`/runs/${runId}/tree`))).toEqual([`0 root ${starter}`, `1 started go ${started}`])
  expect(shape(await tree(`/runs/${other.runId}/tree`))).toEqual([`0 root ${starter}`])
})

test('a run that fails and its onFailure run; more than 8 levels are cut', async () => {
  const name = unique('down')
  const boom = () => {
    throw new StepFailure('no', { retriable: false })
  }
  await engine.runner({
    workflows: {
      [name]: {
        handler: (invoke, record) => {
          if (invoke.ctx.onFailure) return returned()
          const { level } = invoke.event.data as { level: number }
          return flow([level === 0 ? run('boom', boom) : child('next', name, { level: level - 1 })])(invoke, record)
        },
        registration: { onFailure: true },
      },
    },
  })
  const shallow = await api.send({ name, data: { level: 0 } })
  await api.failed(shallow.runId)
  expect(shape(await tree(`/runs/${shallow.runId}/tree`))).toEqual([`0 root ${name}`, `1 onFailure ${name}`])
  const deep = await api.send({ name, data: { level: 10 } })
  await api.succeeded(deep.runId)
  const cut = await tree(`/runs/${deep.runId}/tree`)
  expect([cut.truncated, Math.max(...cut.nodes.map(({ depth }) => depth))]).toEqual([true, 8])
})

test('a tree has at most 500 nodes; of what is not there, there is none', async () => {
  const many = unique('many')
  const emits = Array.from({ length: 520 }, (_, i) => emit(`e${i}`, unique('told')))
  await engine.runner({ workflows: { [many]: flow([emits]) } })
  const { runId } = await api.send({ name: many })
  await api.succeeded(runId)
  const { nodes, truncated } = await tree(`/runs/${runId}/tree`)
  expect([nodes.length, truncated]).toEqual([500, true])
  for (const path of ['/runs/run_none/tree', '/events/evt_none/tree'])
    expect(await api.get(path)).toMatchObject({ status: 404, code: 'not_found' })
})
