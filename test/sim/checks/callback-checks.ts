// Checks callbacks at the end of a simulation: each takes at most one post, its step has that post's data, and every refusal has
// a reason (docs/steps.md#callbacks).

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure } from '../core/violation.ts'
import type { PostedCallback } from '../workload/journal.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'
import { tokenOf } from './step-checks.ts'

export function checkCallbacks({ runs, journal }: Snapshot): void {
  const posts = new Map<string, PostedCallback[]>()
  for (const post of journal.callbacks) {
    const key = `${post.runId} ${post.stepId}`
    if (post.isValid) posts.set(key, [...(posts.get(key) ?? []), post])
  }
  for (const record of runs.values())
    for (const step of record.steps)
      if (step.op === 'WaitForCallback' && !step.carried)
        checkStep(record, step, posts.get(`${record.id} ${step.id}`) ?? [])
  for (const ofCallback of posts.values()) {
    const { runId, stepId } = ofCallback[0] as PostedCallback
    const { run, steps } = runs.get(runId) as JudgedRun
    checkPosts(
      ofCallback,
      steps.find(({ id }) => id === stepId),
    )
    for (const post of ofCallback)
      ensure(
        post.status !== 410 || post.isOver || run.status === 'cancelled',
        'only a callback that is over is refused as gone',
        () => JSON.stringify([post, run, steps]),
        [runId, post.token],
      )
  }
  for (const post of journal.callbacks) {
    const isKnown = post.status !== undefined && post.status < 500
    ensure(
      !isKnown || post.isValid === (post.status !== 404),
      'exactly a wrong token is unknown',
      () => JSON.stringify(post),
      [post.runId, post.token],
    )
  }
}

/** A settled step has the data of a post, or it timed out. */
function checkStep({ id, wall }: JudgedRun, step: Step, posts: readonly PostedCallback[]): void {
  if (step.status === 'cancelled' || step.settledBy) return
  const detail = () => `${id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(posts)}`
  ensure(step.status === 'succeeded', 'a callback succeeds', detail, [id])
  const token = tokenOf(step.data)
  if (token === undefined) {
    const { wakeAt = Infinity, finishedAt = 0 } = step
    const isOver = step.timedOut === true && step.data === 'null' && (wall.wasSet || finishedAt >= wakeAt)
    ensure(isOver, 'a callback without data has timed out', detail, [id])
  } else {
    const post = posts.filter(posted => posted.token === token)
    ensure(post.length === 1 && mayCount(post[0]), 'a callback has the data of one post', detail, [id, token])
    ensure(!step.timedOut, 'a callback with data has not timed out', detail, [id, token])
  }
}

/** All posts to one callback that had its token. */
function checkPosts(posts: readonly PostedCallback[], step: Step | undefined): void {
  const detail = () => `${JSON.stringify(step)}: ${JSON.stringify(posts)}`
  const subjects = posts.flatMap(({ runId, token }) => [runId, token])
  const accepted = posts.filter(({ status }) => status === 202)
  ensure(accepted.length <= 1, 'a callback is taken once', detail, subjects)
  const [taken] = accepted
  const isResult = !taken || !step || tokenOf(step.data) === taken.token
  ensure(isResult, 'a callback that was taken is the result of its step', detail, subjects)
  for (const post of posts) {
    const isDone = step?.carried === true || step?.settledBy !== undefined
    const isUsed = isDone || posts.some(other => other !== post && mayCount(other))
    ensure(post.status !== 409 || isUsed, 'only a callback that was used is refused as used', detail, subjects)
    if (!post.isLate) continue
    ensure(post.status !== 202, 'no callback is taken after the end of its run', detail, subjects)
    const hasResult = accepted.length > 0 || (step?.status === 'succeeded' && !step.timedOut)
    ensure(!hasResult || post.status !== 410, 'a callback that was used is refused as used', detail, subjects)
  }
}

/** Whether the post was taken, or may have been because no answer came. */
function mayCount(post: PostedCallback | undefined): boolean {
  return post !== undefined && (post.status === undefined || post.status === 202 || post.status >= 500)
}
