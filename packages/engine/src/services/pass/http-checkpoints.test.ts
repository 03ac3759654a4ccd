// Which reports an engine accepts for its passes: bounds, forged tokens, and what ends a pass.

import { describe, expect, test } from 'vitest'
import { PassTokens } from '../support/pass-tokens.ts'
import type { AskedPass } from './another-pass.ts'
import type { Taken } from './checkpoint.ts'
import { HttpCheckpoints, type ReportingPass } from './http-checkpoints.ts'

const OF_PASS = 16
const OF_NAMESPACE = 1000

function engineOf(
  forward?: (pass: object, payload: string) => Promise<string>,
  isShared = false,
  again: (asked: AskedPass) => Promise<void> = async () => {},
) {
  const tokens = new PassTokens('secret')
  const baseUrl = () => 'http://engine.test'
  return new HttpCheckpoints({ tokens, owner: 'engine_1', baseUrl, forward, again, isShared })
}

function aPass(fields: Partial<ReportingPass> = {}): ReportingPass {
  const take = async (): Promise<Taken> => ({ kind: 'stored', ack: '{}' })
  return { runId: 'run_1', namespace: 'default', take, onReport: () => {}, abort: () => {}, ...fields }
}

/** Reports that wait until they are released. */
function blocked() {
  const releases: (() => void)[] = []
  const take = () =>
    new Promise<Taken>(resolve => {
      releases.push(() => resolve({ kind: 'stored', ack: '{}' }))
    })
  const releaseAll = () => {
    for (const release of releases.splice(0)) release()
  }
  return { take, releaseAll }
}

describe('reports that wait', () => {
  test('are bounded for each pass, and have room again when one is stored', async () => {
    const engine = engineOf()
    const { take, releaseAll } = blocked()
    const { token } = engine.open(aPass({ take }))
    const waiting = Array.from({ length: OF_PASS }, () => engine.receive(token, ''))
    await expect(engine.receive(token, '')).rejects.toMatchObject({ code: 'rate_limited' })
    const other = engine.open(aPass())
    expect(await engine.receive(other.token, '')).toBe('{}')
    releaseAll()
    await Promise.all(waiting)
    const next = engine.receive(token, '')
    releaseAll()
    expect(await next).toBe('{}')
  })

  test('are bounded for each namespace', async () => {
    const engine = engineOf()
    const { take, releaseAll } = blocked()
    const passes = Array.from({ length: Math.ceil(OF_NAMESPACE / OF_PASS) }, () => engine.open(aPass({ take })))
    const tokens = passes.flatMap(({ token }) => Array<string>(OF_PASS).fill(token)).slice(0, OF_NAMESPACE)
    const waiting = tokens.map(token => engine.receive(token, ''))
    const { token } = engine.open(aPass())
    await expect(engine.receive(token, '')).rejects.toMatchObject({ code: 'rate_limited' })
    const other = engine.open(aPass({ namespace: 'other' }))
    expect(await engine.receive(other.token, '')).toBe('{}')
    releaseAll()
    await Promise.all(waiting)
    expect(await engine.receive(token, '')).toBe('{}')
  })
})

describe('a token', () => {
  test('of a pass that is over, or of an engine that was here before, is gone', async () => {
    const engine = engineOf()
    const opened = engine.open(aPass())
    expect(opened.url).toBe(`http://engine.test/invokes/${opened.token}/checkpoints`)
    opened.close()
    await expect(engine.receive(opened.token, '')).rejects.toMatchObject({ code: 'gone' })
    const earlier = new PassTokens('secret').tokenOf({ engine: 'engine_0', no: 1, runId: 'run_1' })
    await expect(engine.receive(earlier, '')).rejects.toMatchObject({ code: 'gone' })
  })

  test('of another engine goes to it', async () => {
    const engine = engineOf(async (pass, payload) => JSON.stringify({ pass, payload }))
    const pass = { engine: 'engine_2', no: 7, runId: 'run_given_1' }
    const answer = await engine.receive(new PassTokens('secret').tokenOf(pass), 'p')
    expect(JSON.parse(answer)).toEqual({ pass, payload: 'p' })
  })

  test('of an engine that may live, but that this one does not hear, is not gone', async () => {
    const token = new PassTokens('secret').tokenOf({ engine: 'engine_2', no: 1, runId: 'run_1' })
    await expect(engineOf(undefined, true).receive(token, '')).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('of another store is unknown', async () => {
    const engine = engineOf()
    engine.open(aPass())
    const forged = new PassTokens('other').tokenOf({ engine: 'engine_1', no: 1, runId: 'run_1' })
    await expect(engine.receive(forged, '')).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('a report of a run that another engine has ends the invoke, and no other one', async () => {
  const engine = engineOf()
  const aborted: string[] = []
  const take = async (): Promise<Taken> => ({ kind: 'obsolete' })
  const { token } = engine.open(aPass({ take, abort: () => aborted.push('this') }))
  const over = engine.open(aPass({ take: () => closes(over), abort: () => aborted.push('over') }))
  await expect(engine.receive(token, '')).rejects.toMatchObject({ code: 'gone' })
  await expect(engine.receive(over.token, '')).rejects.toMatchObject({ code: 'gone' })
  expect(aborted).toEqual(['this'])
})

async function closes(opened: { close(): void }): Promise<Taken> {
  opened.close()
  return { kind: 'obsolete' }
}

test('a report that cannot be read is refused with the reason', async () => {
  const engine = engineOf()
  const { token } = engine.open(aPass({ take: async () => ({ kind: 'unreadable', problem: 'is no object' }) }))
  await expect(engine.receive(token, '')).rejects.toMatchObject({ code: 'invalid_request', message: 'is no object' })
})

describe('a request for another pass', () => {
  async function asked(body: string) {
    const seen: AskedPass[] = []
    const engine = engineOf(undefined, false, async one => void seen.push(one))
    const { token, close } = engine.open(aPass())
    close()
    return { answer: await engine.receive(token, body).catch(error => error), seen }
  }

  test('is taken after the end of its pass, for its run', async () => {
    const { answer, seen } = await asked('{"again":true,"settled":2}')
    expect({ answer, seen }).toEqual({ answer: '{"again":true}', seen: [{ runId: 'run_1', settled: 2 }] })
    expect((await asked('{"again":true}')).seen).toEqual([{ runId: 'run_1', settled: undefined }])
  })

  test('needs a number of steps, and the token of an engine of the store', async () => {
    expect((await asked('{"again":true,"settled":"2"}')).answer).toMatchObject({ code: 'invalid_request' })
    const forged = new PassTokens('other').tokenOf({ engine: 'engine_1', no: 1, runId: 'run_1' })
    await expect(engineOf().receive(forged, '{"again":true}')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is nothing that has a seq, or another value', async () => {
    for (const body of ['{"again":false}', '{"again":1}', '"again"', '{"again":']) {
      const { answer, seen } = await asked(body)
      expect({ code: (answer as { code: string }).code, seen }).toEqual({ code: 'gone', seen: [] })
    }
  })
})
