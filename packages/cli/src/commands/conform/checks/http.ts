// Checks that only HTTP has: the version header, and signatures.

import {
  PROTOCOL_HEADER,
  recipientOf,
  SIGNATURE_FEATURE,
  SIGNATURE_HEADER,
  SIGNATURE_WINDOW_MS,
  signBody,
  signFor,
} from '@perdure/protocol'
import { fails, isRefused, reports } from '../runner/expectations.ts'
import type { HttpRunner } from '../runner/http-runner.ts'
import type { Answer, PassRequest } from '../runner/runner.ts'
import type { Check, Group } from './check.ts'

type HttpCheck = Omit<Check, 'run'> & { run(runner: HttpRunner): Promise<void> }

const PASS: PassRequest = { workflow: 'conform-sequence', data: { n: 4 } }
const isTaken = (answer: Answer) => reports(answer, { op: 'StepRun', step: 'add', fields: { data: 5 } })
/** A key that no runner has. */
const OTHER_KEY = 'conform-other-key-conform-other-key-'

const httpChecks = (group: Group, checks: Record<string, HttpCheck['run']>): HttpCheck[] =>
  Object.entries(checks).map(([name, run]) => ({ group, name, run }))

export const VERSION_CHECKS: readonly HttpCheck[] = httpChecks('versions', {
  async 'takes an invoke without a version'(runner) {
    isTaken(await runner.post(PASS, body => runner.signed(body)))
  },
  async 'refuses another version of the protocol with a 400'(runner) {
    const answer = await runner.post(PASS, body => ({ ...runner.signed(body), [PROTOCOL_HEADER]: '2' }))
    if (answer.status !== 400) fails(answer, '4xx')
  },
})

/** For a runner with this key. */
export function signatureChecks(key: string): HttpCheck[] {
  const sign = (body: string, { keys = [key], nowMs = Date.now() } = {}) => ({
    [SIGNATURE_HEADER]: signBody({ keys, body, nowMs }),
  })
  return httpChecks('signatures', {
    async 'takes what is signed with one of several keys'(runner) {
      isTaken(await runner.post(PASS, body => ({ ...runner.version(), ...sign(body, { keys: [OTHER_KEY, key] }) })))
    },
    async 'refuses what is not signed'(runner) {
      isRefused(await runner.post(PASS, () => runner.version()), 'the signature is missing')
      isRefused(await runner.post(PASS, () => ({ [SIGNATURE_HEADER]: 'v0' })), 'the signature is v0')
    },
    async 'refuses what is signed with another key'(runner) {
      isRefused(await runner.post(PASS, body => sign(body, { keys: [OTHER_KEY] })), 'the key is another')
    },
    async 'refuses a body that is not the signed one'(runner) {
      isRefused(await runner.post(PASS, body => sign(`${body} `)), 'the body was changed')
    },
    async 'refuses a signature from more than 300 s ago, or ahead'(runner) {
      for (const offMs of [-SIGNATURE_WINDOW_MS - 60_000, SIGNATURE_WINDOW_MS + 60_000]) {
        const answer = await runner.post(PASS, body => sign(body, { nowMs: Date.now() + offMs }))
        isRefused(answer, `t is ${Math.abs(offMs) / 1000} s off`)
      }
    },
  })
}

/** For a runner that knows `signature-v2`, with this key, registered as this runner. */
export function recipientChecks(key: string, names: { app: string; runner: string }): HttpCheck[] {
  const addressed: PassRequest = { ...PASS, ctx: { features: [SIGNATURE_FEATURE] } }
  const sign = (body: string, runner: string) => {
    const recipient = recipientOf(names.app, runner)
    return { [SIGNATURE_HEADER]: signFor({ keys: [key], purpose: 'invoke', body, nowMs: Date.now(), recipient }) }
  }
  return httpChecks('signatures', {
    async 'takes what is signed for it'(runner) {
      isTaken(await runner.post(addressed, body => sign(body, names.runner)))
    },
    async 'refuses what is signed for another runner, with a 5xx'(runner) {
      fails(await runner.post(addressed, body => sign(body, `${names.runner}-other`)), '5xx')
    },
    async 'refuses a signature for itself that is not over this body'(runner) {
      isRefused(await runner.post(addressed, body => sign(`${body} `, names.runner)), 'the body was changed')
    },
  })
}
